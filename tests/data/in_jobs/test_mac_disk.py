"""Jobs whose home and data are on a disk as on a Mac, where names that differ only in case or in accents are one."""

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.remote.test_remote import channel
from tests.jobs.hosting.conftest import Hosting
from tests.jobs.pipelines.conftest import Pipelines
from tests.jobs.transform.conftest import Transforms
from tests.jobs.tuning.conftest import LOSS, Tuning
from tests.kit.life import Life
from tests.kit.mac_disk import mac_disk
from tests.kit.s3_servers import S3Servers

from smlocal.base.alike_names import alike_key, first_alike, ignores_case

Image = Callable[[str | Path], str]
Docker = Callable[..., str]
_CLIENT = r"""
import boto3
client, of_case, of_form = boto3.client("s3"), ("A.csv", "a.csv", "D/x", "d/x"), ("\u00e9", "e\u0301")
client.create_bucket(Bucket="names")
for key in of_case + of_form:
    try:
        client.put_object(Bucket="names", Key=key, Body=key.encode())
    except Exception as error:
        print("refused", ascii(key), error.response["Error"]["Code"])
for each in client.list_objects_v2(Bucket="names")["Contents"]:
    print(ascii(each["Key"]), ascii(client.get_object(Bucket="names", Key=each["Key"])["Body"].read().decode()))
for key in ("A.CSV", "d/x"):
    client.delete_object(Bucket="names", Key=key)
print(client.list_objects_v2(Bucket="names")["KeyCount"])
"""


@pytest.fixture(scope="module", params=["kept", "decomposed"])
def disk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with mac_disk(tmp_path_factory.mktemp("disk"), request.param) as disk:
        yield disk


@pytest.fixture
def life(disk: Path, tmp_path: Path, image: Image, docker: Docker) -> Iterator[Life]:
    folder = disk / tmp_path.name
    folder.mkdir()
    it = Life(folder=folder, home=folder / "Library/Application Support/smlocal", image=image("sh"))
    yield it
    it.close(docker)


@pytest.mark.slow(2)
def test_jobs_that_differ_only_in_case(life: Life) -> None:
    done = life("run", life.job_file("Train", "echo >/opt/ml/model/m"), "--json")
    notes = {each["Id"] for each in json.loads(done.stdout)["Local"]["Notes"]}
    assert "folders-ignore-case" in notes
    for flags in ((), ("--replace",)):
        done = life("run", life.job_file("train", "echo"), *flags)
        assert (done.returncode, "[name-in-use]" in done.stderr) == (2, True), done.stderr
        assert "'train' and the job 'Train' are one name on the disk" in done.stderr
    for command in (("rm", "train"), ("describe", "TRAIN"), ("recover",), ("logs", "train")):
        life(*command)
    assert life.describe("Train")["TrainingJobStatus"] == "Completed"
    assert life.model("Train") == ["m"]
    assert life("rm", "Train").returncode == 0
    assert life("run", "train.json").returncode == 0
    assert os.listdir(life.home / "jobs") == ["train"]
    assert "on a disk that ignores case: A and a are one name" in " ".join(life("doctor").stdout.split())


@pytest.mark.slow(2)
def test_a_whole_job_and_the_next_supervisor(life: Life) -> None:
    """Its folders are written in one form, and named in another."""
    (life.folder / "Donn\xe9es").mkdir()
    (life.folder / "Donn\xe9es" / "\xe9.csv").write_text("content\n")
    script = """
        cd /opt/ml; cat input/data/train/* code/*; echo m >model/\xc9t\xe9; echo c >checkpoints/c; echo ready
        until [ -e output/go ]; do sleep 0.05; done
    """
    parts: dict[str, Any] = {"InputDataConfig": [channel("./DONNE\u0301ES")], "Local": {"Code": "./donn\xe9es"}}
    life.detach("mac-disk", script, CheckpointConfig={"S3Uri": "./Saved"}, **parts)
    life.until_logged("mac-disk", "ready")
    life.crash("mac-disk")
    life.let_go("mac-disk")
    assert life("recover").returncode == 0
    assert life("wait", "mac-disk").returncode == 0
    assert life.log("mac-disk") == "content\ncontent\nready\n"
    assert [unicodedata.normalize("NFC", each) for each in life.model("mac-disk")] == ["\xc9t\xe9"]
    assert os.listdir(life.folder / "saved") == ["c"]


@pytest.mark.slow(2)
def test_names_that_would_be_one_are_refused(life: Life, s3_servers: S3Servers) -> None:
    for name in ("one", "two"):
        (life.folder / name).mkdir()
        (life.folder / name / name).write_text(name)
    s3 = s3_servers("moto")  # the other has a disk of its own, with its own view of names
    bucket = s3.make_bucket()
    for key in ("case/A.csv", "case/a.csv", "form/\xe9/x", "form/e\u0301/y", "fine/a", "fine/b"):
        s3.put(bucket, key, key.encode())
    life.environment |= s3.environment
    two = [{**channel("./one"), "ChannelName": "A"}, {**channel("./two"), "ChannelName": "a"}]
    for name, inputs, words in (
        ("mac-channels", two, "the channels A and a are one name"),
        ("mac-case", [channel(f"s3://{bucket}/case/")], 'channel "train": A.csv and a.csv are one name'),
        ("mac-form", [channel(f"s3://{bucket}/form/")], 'channel "train": e\u0301 and \xe9 are one name'),
        ("mac-fine", [channel(f"s3://{bucket}/fine/")], ""),
        ("mac-stream", [channel(f"s3://{bucket}/case/", "FastFile")], ""),
    ):
        done = life("run", life.job_file(name, "ls /opt/ml/input/data/train", InputDataConfig=inputs))
        assert (done.returncode, "[names-alike]" in done.stderr) == ((3, True) if words else (0, False)), done.stderr
        assert words in done.stderr
    assert life.log("mac-stream") == "A.csv\na.csv\n"


@pytest.mark.slow(2)
def test_what_a_container_writes(life: Life, tmp_path: Path) -> None:
    """The home is on another disk, and what is written is saved to this one."""
    script = "cd /opt/ml; for each in A a B; do echo $each >checkpoints/$each; echo $each >model/$each; done"
    life.environment["SMLOCAL_HOME"] = str(tmp_path / "home")
    done = life("run", life.job_file("mac-saved", script, CheckpointConfig={"S3Uri": "./saved"}), "--json")
    notes = " ".join(json.loads(done.stdout)["Local"]["Artifacts"]["Notes"])
    assert "a was not saved: in the destination, which ignores case, it would be the same file as A" in done.stdout, (
        notes
    )
    assert {each.name: each.read_text() for each in (life.folder / "saved").iterdir()} == {"A": "A\n", "B": "B\n"}
    assert life.model("mac-saved") == ["A", "B", "a"]
    plain = {"S3OutputPath": "./plain", "CompressionType": "NONE"}
    script = script.replace("echo $each >checkpoints/$each; ", "")
    done = life("run", life.job_file("mac-plain", script, OutputDataConfig=plain))
    assert "Artifact upload failed:File exists" in done.stderr
    assert sorted(os.listdir(tmp_path / "home/jobs/mac-plain/kept/algo-1/model")) == ["A", "B", "a"]


@pytest.mark.slow(2)
def test_archives_and_children(life: Life, image: Image) -> None:
    hosting = Hosting(life=life, image=image("serve"))
    for names, code in ((("A", "a"), 1), (("A", "b"), 0)):
        hosting.archive(dict.fromkeys(names, "content"))
        done = life("deploy", hosting.model_file(f"mac-model-{code}"), "--name", f"mac-model-{code}")
        assert done.returncode == code, done.stderr
        assert ("'a' has the name of another member on a disk that ignores case" in done.stderr) is bool(code)
        assert life("rm", "--stop", f"mac-model-{code}").returncode == 0
    tuning = Tuning(life=life)
    assert life("run", tuning.file("Mac-Tuning", LOSS, values=("1", "2"))).returncode == 0
    done = life("run", tuning.file("mac-tuning", LOSS, values=("1", "2")))
    assert "[name-in-use]" in done.stderr
    assert len(tuning.children("Mac-Tuning")) == 2


@pytest.mark.slow(2)
def test_steps_that_differ_only_in_case(life: Life) -> None:
    pipelines = Pipelines(life=life)
    read = {"S3Uri": {"Get": "Steps.Train.ModelArtifacts.S3ModelArtifacts"}, "S3DataType": "S3Prefix"}
    steps = [
        pipelines.training("Train", "echo big >/opt/ml/model/m"),
        pipelines.training(
            "train",
            "cp /opt/ml/input/data/train/* /opt/ml/model/m; cat /opt/ml/model/m | tar -xzO",
            arguments={"InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": read}}]},
        ),
    ]
    pipelines.run("mac-steps", steps)
    names = os.listdir(life.home / "jobs")
    assert len({alike_key(each) for each in names}) == len(names) == 3
    assert sorted(life.log(each) for each in names) == ["", "", "big\n"]


@pytest.mark.slow(1)
def test_objects_of_clients(life: Life) -> None:
    (life.folder / "client.py").write_text(_CLIENT)
    done = life("exec", "--", sys.executable, "client.py")
    kept = "kept" in os.environ["PYTEST_CURRENT_TEST"]
    refused = ["refused 'a.csv' NotImplemented", "refused 'd/x' NotImplemented"]
    if kept:
        refused.append("refused 'e\\u0301' NotImplemented")
    accent = r"'\xe9' '\xe9'" if kept else r"'e\u0301' 'e\u0301'"
    objects = ["'A.csv' 'A.csv'", "'D/x' 'D/x'", accent]
    assert done.stdout.splitlines() == [*refused, *(objects if kept else [*objects[:2], accent]), "3"], done.stderr


def test_disks_and_names(disk: Path, tmp_path: Path) -> None:
    (empty := disk / f"{tmp_path.name}-empty").mkdir()
    assert [ignores_case(str(each)) for each in (disk, empty, tmp_path, tmp_path / "none")] == [
        True,
        True,
        False,
        False,
    ]
    assert list(empty.iterdir()) == list(tmp_path.iterdir()) == []
    (tmp_path / "a").touch()
    assert not ignores_case(str(tmp_path))
    (tmp_path / "A").touch()
    assert not ignores_case(str(tmp_path))
    assert alike_key("Stra\xdfe/\xc9") == alike_key("STRASSE/e\u0301")
    assert first_alike(["B/x", "b/y"]) == ("B", "b")
    assert first_alike(["a/b", "a/c", "ab"]) is None


@pytest.mark.slow(2)
def test_results_of_objects_that_differ_only_in_case(life: Life, image: Image, tmp_path: Path) -> None:
    transforms = Transforms(life=life, image=image("transform"))
    (data := tmp_path / "data").mkdir()
    for name in ("A.csv", "a.csv"):
        (data / name).write_text(f"{name}\n")
    done = transforms.run("mac-transform", objects={"S3Uri": str(data)})
    assert (done.returncode, "[names-alike]" in done.stderr) == (3, True), done.stderr
    assert "the output of A.csv and a.csv is one name" in done.stderr
    done = transforms.run("mac-elsewhere", objects={"S3Uri": str(data)}, output={"S3OutputPath": str(tmp_path / "o")})
    assert (done.returncode, sorted(os.listdir(tmp_path / "o"))) == (0, ["A.csv.out", "a.csv.out"])
