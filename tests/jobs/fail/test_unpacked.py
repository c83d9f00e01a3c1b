"""A model that cannot be written where it was meant for: it is kept, and one command packs it again."""

import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kit import Run
from tests.kit.fixtures import leftovers
from tests.kit.s3_servers import S3Server, S3Servers

Fails = Callable[..., dict[str, Any]]
SCRIPT = (
    "head -c 8000000 /dev/urandom >/opt/ml/model/m; ln /opt/ml/model/m /opt/ml/model/n; echo d >/opt/ml/output/data/d"
)
SIZE = 8_000_000


def files(home: Path, job: str) -> list[str]:
    """Everything that is still in a job's folder, except its documents and logs."""
    folder = home / "jobs" / job
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if len(path.relative_to(folder).parts) > 1
    )


def kept(answer: dict[str, Any]) -> str:
    path = answer["Local"]["Artifacts"]["Kept"]
    assert os.path.isdir(path)
    assert path in answer["Local"]["Explanation"]
    return str(path)


def model_size(path: str) -> int:
    with tarfile.open(path) as archive:
        return sum(each.size for each in archive)


@pytest.fixture
def fails(
    smlocal_run: Run, image: Callable[[str], str], tmp_path: Path, assert_nothing_left: Callable[[str], None]
) -> Fails:
    """Runs a job whose artifacts cannot be written."""

    def run(name: str, script: str, **members: Any) -> dict[str, Any]:
        write(tmp_path, name, script, image("sh"), **members)
        done = smlocal_run("run", "job.yaml", "--json", cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        assert leftovers(answer) == []
        assert_nothing_left(name)
        return answer

    return run


def write(folder: Path, name: str, script: str, image: str, **members: Any) -> None:
    request = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": script},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        **members,
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(request))


@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_kept_until_it_is_packed(
    compression: str, fails: Fails, small_disk: Path, smlocal_run: Run, smlocal_home: Path, tmp_path: Path
) -> None:
    output = {"S3OutputPath": str(small_disk), "CompressionType": compression}
    answer = fails("unpacked", SCRIPT, OutputDataConfig=output)
    folder = kept(answer)
    assert "output-small" in {note["Id"] for note in answer["Local"]["Notes"]}
    assert f"Kept        {folder}\n            smlocal pack unpacked" in smlocal_run("describe", "unpacked").stdout
    again = smlocal_run("pack", "unpacked")
    assert again.returncode == 1
    for word in ("[artifact-write]", "Insufficient disk space", str(small_disk), folder):
        assert word in again.stderr
    assert list((small_disk / "unpacked" / "output").iterdir()) == []
    refused = smlocal_run("run", "job.yaml", "--replace", cwd=tmp_path)
    assert (refused.returncode, "[not-packed]" in refused.stderr) == (2, True)

    done = smlocal_run("pack", "unpacked", "--output", "other", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    artifacts = json.loads(done.stdout)["Artifacts"]
    assert artifacts["Directory"] == str(tmp_path / "other" / "unpacked" / "output")
    if compression == "GZIP":
        assert model_size(artifacts["Model"]) == SIZE
    else:
        assert Path(artifacts["Model"], "m").stat().st_size == SIZE
        assert Path(artifacts["Model"], "m").samefile(Path(artifacts["Model"], "n"))
    assert tarfile.is_tarfile(artifacts["Output"])
    assert not any(path.startswith("kept") for path in files(smlocal_home, "unpacked"))
    now = json.loads(smlocal_run("describe", "unpacked", "--json").stdout)
    assert now["Local"]["Artifacts"] == artifacts
    assert (now["TrainingJobStatus"], now["FailureReason"]) == ("Failed", answer["FailureReason"])
    nothing = smlocal_run("pack", "unpacked", "--json")
    assert (nothing.returncode, json.loads(nothing.stdout)["Error"]["Id"]) == (2, "nothing-to-pack")


def test_packed_where_it_was_meant_for_once_there_is_room(fails: Fails, small_disk: Path, smlocal_run: Run) -> None:
    (small_disk / "full").write_bytes(bytes(2 << 20))
    script = "head -c 1000000 /dev/urandom >/opt/ml/model/m; exit 1"
    answer = fails("unpacked-room", script, OutputDataConfig={"S3OutputPath": str(small_disk)})
    kept(answer)
    (small_disk / "full").unlink()
    done = smlocal_run("pack", "unpacked-room")
    assert done.returncode == 0, done.stderr
    assert model_size(str(small_disk / "unpacked-room" / "output" / "model.tar.gz")) == 1_000_000
    assert [path.name for path in (small_disk / "unpacked-room" / "output").iterdir()] == ["model.tar.gz"]


@pytest.mark.slow(1)
def test_several_hosts(fails: Fails, small_disk: Path, smlocal_run: Run, tmp_path: Path) -> None:
    script = f"{SCRIPT}; hostname >/opt/ml/model/$(hostname)-own"
    hosts = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
    answer = fails("unpacked", script, **hosts, OutputDataConfig={"S3OutputPath": str(small_disk)})
    kept(answer)
    done = smlocal_run("pack", "unpacked", "-o", str(tmp_path / "other"))
    assert done.returncode == 0, done.stderr
    assert "algo-2's was kept" in done.stderr
    assert "algo-2: its files in /opt/ml/output/data are not in output.tar.gz" in done.stderr
    with tarfile.open(tmp_path / "other" / "unpacked" / "output" / "model.tar.gz") as archive:
        assert len([name for name in archive.getnames() if name.endswith("-own")]) == 2


def test_removed_with_the_job(fails: Fails, small_disk: Path, smlocal_run: Run, smlocal_home: Path) -> None:
    kept(fails("unpacked", SCRIPT, OutputDataConfig={"S3OutputPath": str(small_disk)}))
    assert smlocal_run("rm", "unpacked").returncode == 0
    assert not (smlocal_home / "jobs" / "unpacked").exists()
    assert not (smlocal_home / "removed").exists()


@pytest.mark.slow(2)
def test_a_stopped_job_keeps_its_status_and_its_model(
    small_disk: Path, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    members = {
        "OutputDataConfig": {"S3OutputPath": str(small_disk)},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3},
        "Local": {"StopGraceSeconds": 1},
    }
    write(tmp_path, "unpacked-stopped", f"{SCRIPT}; sleep 60", image("sh"), **members)
    done = smlocal_run("run", "job.yaml", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "smlocal pack unpacked-stopped --output DIR" in done.stderr
    assert smlocal_run("pack", "unpacked-stopped", "-o", str(tmp_path / "other")).returncode == 0
    assert model_size(str(tmp_path / "other" / "unpacked-stopped" / "output" / "model.tar.gz")) == SIZE


@pytest.mark.parametrize("apart", [True, False], ids=["output-apart", "output-beside"])
def test_a_model_that_fills_the_disk_of_the_home(
    apart: bool, small_disk: Path, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    name = "unpacked-home-full"
    output = {"S3OutputPath": str((tmp_path if apart else small_disk) / "out")}
    write(tmp_path, name, "cat /dev/urandom >/opt/ml/model/m || exit 3", image("sh"), OutputDataConfig=output)
    home = {"SMLOCAL_HOME": str(small_disk / "home")}
    done = smlocal_run("run", "job.yaml", "--json", cwd=tmp_path, env=home)
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert answer["FailureReason"].startswith("AlgorithmError: ")
    assert answer["FailureReason"].endswith("exit code: 3")
    assert leftovers(answer) == []
    if apart:
        assert model_size(answer["Local"]["Artifacts"]["Model"]) > 0
    else:
        assert Path(kept(answer), "algo-1", "model", "m").stat().st_size > 0


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("hosts", [1, 2])
def test_checkpoints_that_their_folder_cannot_take_are_kept(
    hosts: int, fails: Fails, small_disk: Path, smlocal_run: Run, smlocal_home: Path, tmp_path: Path
) -> None:
    name, folder = f"unpacked-checkpoints-{hosts}", small_disk / "checkpoints"
    script = "echo small >/opt/ml/checkpoints/$HOSTNAME; head -c 8000000 /dev/urandom >/opt/ml/checkpoints/big"
    answer = fails(
        name,
        script,
        CheckpointConfig={"S3Uri": str(folder)},
        OutputDataConfig={"S3OutputPath": str(tmp_path / "out")},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": hosts},
    )
    ((path, where),) = answer["Local"]["Artifacts"]["NotSaved"].items()
    assert path == "/opt/ml/checkpoints"
    assert sorted(os.listdir(where)) == [f"algo-{number}" for number in range(1, hosts + 1)]
    assert where in answer["Local"]["Explanation"]
    assert where in smlocal_run("describe", name).stdout
    refused = smlocal_run("run", "job.yaml", "--replace", cwd=tmp_path)
    assert (refused.returncode, "[not-packed]" in refused.stderr) == (2, True)
    again = smlocal_run("pack", name)
    assert (again.returncode, where in again.stderr) == (1, True), again.stderr

    done = smlocal_run("pack", name, "--output", "other", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    saved = tmp_path / "other" / name / "checkpoints"
    assert (saved / "big").stat().st_size == SIZE
    assert len(os.listdir(saved)) == hosts + 1
    assert not any(each.startswith("not-saved/checkpoints") for each in files(smlocal_home, name))
    assert "NotSaved" not in json.loads(smlocal_run("describe", name, "--json").stdout)["Local"]["Artifacts"]
    assert smlocal_run("pack", name).returncode == 2


@pytest.fixture
def s3(s3_servers: S3Servers) -> S3Server:
    return s3_servers("rclone")


@pytest.mark.slow(1)
def test_packed_and_then_published(
    small_disk: Path, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path, s3: S3Server
) -> None:
    bucket = s3.make_bucket()
    output = {"S3OutputPath": f"s3://{bucket}/out"}
    write(tmp_path, "unpacked-published", SCRIPT, image("sh"), OutputDataConfig=output)
    done = smlocal_run("run", "job.yaml", "--publish", "-o", str(small_disk), cwd=tmp_path, env=s3.environment)
    assert done.returncode == 1, done.stderr
    listed = s3.client().list_objects_v2(Bucket=bucket)
    assert listed.get("Contents", []) == []
    done = smlocal_run("pack", "unpacked-published", "-o", str(tmp_path / "other"))
    assert done.returncode == 0, done.stderr
    done = smlocal_run("publish", "unpacked-published", env=s3.environment)
    assert done.returncode == 0, done.stderr
    keys = [each["Key"] for each in s3.client().list_objects_v2(Bucket=bucket)["Contents"]]
    assert keys == [f"out/unpacked-published/output/{name}.tar.gz" for name in ("model", "output")]


def test_what_cannot_be_packed(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    done = smlocal_run("pack", "never-made")
    assert (done.returncode, "Requested resource not found." in done.stderr) == (2, True)
    flags = ("--image", image("sh"), "--name", "unpacked-nothing", "--env", "SCRIPT=true")
    assert smlocal_run("run", *flags, cwd=tmp_path).returncode == 0
    done = smlocal_run("pack", "unpacked-nothing")
    assert (done.returncode, "[nothing-to-pack]" in done.stderr) == (2, True)
    done = smlocal_run("pack", "unpacked-nothing", "--output", "s3://bucket/out")
    assert (done.returncode, "[output-unusable]" in done.stderr) == (2, True)
