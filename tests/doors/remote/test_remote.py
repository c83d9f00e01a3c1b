"""Jobs on an engine that cannot see this machine's folders."""

import json
import os
import resource
import shlex
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contract.test_cases import hold_case
from tests.doors.remote.conftest import Relay
from tests.kit import Run

from smlocal.engine.endpoint import find_endpoint
from smlocal.engine.engines import connect

Image = Callable[[str | Path], str]
Nothing = Callable[[str], None]
MIB = 1 << 20


def write_job(folder: Path, name: str, script: str, **members: Any) -> None:
    request = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
        "Environment": {"SCRIPT": script},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        **members,
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(request))


def channel(uri: str, mode: str = "File") -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": uri}
    return {"ChannelName": "train", "InputMode": mode, "DataSource": {"S3DataSource": source}}


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("case", ["channel-odd-names", "code", "failure-short", "two-hosts-sharded"])
def test_case(
    case: str, tmp_path: Path, image: Image, run_remotely: Run, relay: Relay, assert_nothing_left: Nothing
) -> None:
    answer = hold_case(case, tmp_path, image, run_remotely, assert_nothing_left, "--name", f"remote-{case}")
    assert relay.mounts == {b"volume"}
    assert "engine-remote" in [note["Id"] for note in answer["Local"]["Notes"]]
    assert {means for host in answer["Local"]["Hosts"] for means in host["Staging"].values()} <= {"sent"}


@pytest.mark.slow(2)
def test_checkpoints_come_and_go(
    tmp_path: Path, image: Image, run_remotely: Run, relay: Relay, assert_nothing_left: Nothing
) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    for name in ("left", "rewritten", "deleted"):
        (saved / name).write_text("old")
        os.utime(saved / name, (1_600_000_000, 1_600_000_000))
    script = """
        cd /opt/ml/checkpoints && cat left && printf new > rewritten && rm deleted && mkdir sub && printf new > sub/made
        touch /opt/ml/input/data/train/x 2>/dev/null || echo read-only
    """
    data = tmp_path / "data"
    data.mkdir()
    (data / "a").write_text("1")
    write_job(
        tmp_path,
        "remote-checkpoints",
        script,
        CheckpointConfig={"S3Uri": "./saved"},
        InputDataConfig=[channel("./data", "FastFile")],
    )
    done = run_remotely("run", "job.yaml", "--json", "--image", image("sh"), cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    assert Path(answer["Local"]["Hosts"][0]["Log"]).read_text() == "oldread-only\n"
    found = {str(path.relative_to(saved)): path.read_text() for path in saved.rglob("*") if path.is_file()}
    assert found == {"left": "old", "rewritten": "new", "sub/made": "new"}
    assert (saved / "left").stat().st_mtime == 1_600_000_000
    assert relay.mounts == {b"volume"}
    assert_nothing_left("remote-checkpoints")


@pytest.mark.slow(1)
def test_what_cannot_be_packed_is_packed_later(
    tmp_path: Path, image: Image, run_remotely: Run, smlocal_run: Run, assert_nothing_left: Nothing
) -> None:
    write_job(tmp_path, "remote-pack", "cd /opt/ml/model; echo m >m; ln m n; ln -s m l; chmod 600 m; mkdir -m 700 d")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "remote-pack").write_text("a file where the folder should be")
    done = run_remotely("run", "job.yaml", "--json", "--image", image("sh"), cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert answer["FailureReason"] == "ClientError: Artifact upload failed:Not a directory"
    assert Path(answer["Local"]["Artifacts"]["Kept"]).is_dir()
    assert_nothing_left("remote-pack")
    # The engine is not asked for anything.
    nobody = {"DOCKER_HOST": "tcp://127.0.0.1:9"}
    done = smlocal_run("pack", "remote-pack", "-o", "other", "--json", cwd=tmp_path, env=nobody)
    assert done.returncode == 0, done.stderr
    with tarfile.open(json.loads(done.stdout)["Artifacts"]["Model"]) as archive:
        found = {each.name: (each.type, each.mode, each.linkname) for each in archive}
    assert found == {
        "d": (tarfile.DIRTYPE, 0o700, ""),
        "l": (tarfile.SYMTYPE, 0o777, "m"),
        "m": (tarfile.REGTYPE, 0o600, ""),
        "n": (tarfile.LNKTYPE, 0o600, "m"),
    }


@pytest.mark.slow(2)
def test_much_data_needs_little_memory(tmp_path: Path, image: Image, relay: Relay, smlocal_run: Run) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with (data / "zeros").open("wb") as file:
        file.truncate(160 * MIB)
    script = "wc -c < /opt/ml/input/data/train/zeros; cp /opt/ml/input/data/train/zeros /opt/ml/model"
    write_job(tmp_path, "remote-much", script, InputDataConfig=[channel("./data")])
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = smlocal_run(
        "run", "job.yaml", "--json", "--image", image("sh"), cwd=tmp_path, env={"DOCKER_HOST": relay.address}
    )
    assert done.returncode == 0, done.stderr
    assert Path(json.loads(done.stdout)["Local"]["Hosts"][0]["Log"]).read_text() == f"{160 * MIB}\n"
    # In KiB, of the largest child so far.
    assert max(0, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - max(before, 60 << 10)) < 100 << 10


@pytest.mark.slow(2)
def test_through_ssh(tmp_path: Path, image: Image, smlocal_run: Run, assert_nothing_left: Nothing) -> None:
    # No machine of another name is at hand: what ssh would run there is run here.
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    engine = shlex.quote(find_endpoint().address)
    ssh.write_text(
        f'#!/bin/sh\nexport DOCKER_HOST={engine}\nfor last; do :; done\necho "$*" >> "$0.asked"\nexec sh -c "$last"\n'
    )
    ssh.chmod(0o755)
    write_job(tmp_path, "remote-ssh", "echo there; echo 1 > /opt/ml/model/m")
    done = smlocal_run(
        *("run", "job.yaml", "--json", "--image", image("sh")),
        cwd=tmp_path,
        env={"DOCKER_HOST": "ssh://me@far", "PATH": f"{ssh.parent}:{os.environ['PATH']}"},
    )
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    assert Path(answer["Local"]["Hosts"][0]["Log"]).read_text() == "there\n"
    assert (tmp_path / "out" / "remote-ssh" / "output" / "model.tar.gz").exists()
    assert "-l me -- far docker system dial-stdio" in (tmp_path / "bin" / "ssh.asked").read_text()
    assert_nothing_left("remote-ssh")


def test_an_ssh_that_leads_nowhere(tmp_path: Path, smlocal_run: Run) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\nexit 255\n")
    ssh.chmod(0o755)
    write_job(tmp_path, "remote-nowhere", "true")
    env = {"DOCKER_HOST": "ssh://far", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = smlocal_run("run", "job.yaml", "--image", "none:at-all", cwd=tmp_path, env=env)
    assert done.returncode == 3
    assert "no Docker engine answers at ssh://far" in done.stderr
    assert "docker system dial-stdio" in done.stderr


def test_what_cannot_reach_is_refused(tmp_path: Path, image: Image, run_remotely: Run) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a").write_text("1")
    write_job(tmp_path, "remote-pipe", "true", InputDataConfig=[channel("./data", "Pipe")])
    done = run_remotely("run", "job.yaml", "--json", "--image", image("sh"), cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["Error"]["Id"]) == (3, "pipe-unreachable")
    system = {
        "FileSystemId": "fs-01234567",
        "FileSystemAccessMode": "rw",
        "FileSystemType": "EFS",
        "DirectoryPath": "/",
    }
    mounted = [{"ChannelName": "train", "DataSource": {"FileSystemDataSource": system}}]
    local = {"Sources": {"fs-01234567": "./data"}}
    write_job(tmp_path, "remote-efs", "true", InputDataConfig=mounted, Local=local)
    done = run_remotely("run", "job.yaml", "--json", "--image", image("sh"), cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["Error"]["Id"]) == (3, "engine-remote")


@pytest.mark.slow(1)
def test_doctor_says_what_an_engine_elsewhere_means(tmp_path: Path, run_remotely: Run) -> None:
    done = run_remotely("doctor", "--json", cwd=tmp_path)
    found = {check["Check"]: check for check in json.loads(done.stdout)["Doctor"]["Checks"]}
    assert done.returncode == 0, done.stdout
    assert "the engine is on another machine" in found["overlay"]["Sentence"]
    assert found["container"]["Severity"] == "ok"
    assert "(the engine)" not in found["disk"]["Sentence"]


def test_the_plan_says_so(tmp_path: Path, run_remotely: Run) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a").write_text("1")
    write_job(tmp_path, "remote-plan", "true", InputDataConfig=[channel("./data")])
    shown = run_remotely("plan", "job.yaml", "--image", "none:at-all", cwd=tmp_path)
    assert "engine volume, uploaded from ./data" in shown.stdout
    assert "bind mount" not in shown.stdout
    document = json.loads(run_remotely("plan", "job.yaml", "--json", "--image", "none:at-all", cwd=tmp_path).stdout)
    assert (document["Engine"]["Product"], document["Engine"]["Here"]) == (connect().facts().product, False)
    assert {mount["Kind"] for mount in document["Hosts"][0]["Mounts"]} == {"send"}
