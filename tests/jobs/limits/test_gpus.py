"""GPU jobs on an engine of their own that has what an engine with GPUs has: a hook that is told which to give.

The hook stands in for NVIDIA's, at the engine's door: it writes down what it was asked for. `nvidia-smi` stands in for
the driver's tool. No GPU is needed, and none is used.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.own_engine import OwnEngine

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("dockerd") or not shutil.which("unshare"),
    reason="an engine of the test's own needs root, dockerd and unshare",
)
SHOW = 'echo "visible: ${NVIDIA_VISIBLE_DEVICES-none}"'
HOOK = """#!{python}
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
state = json.load(sys.stdin)
with open(os.path.join(state["bundle"], "config.json")) as file:
    variables = dict(line.split("=", 1) for line in json.load(file)["process"]["env"])
with open(os.path.join(here, "asked"), "a") as file:
    file.write(" ".join((*sys.argv[1:], variables["NVIDIA_VISIBLE_DEVICES"])) + "\\n")
if os.path.exists(os.path.join(here, "broken")):
    sys.exit("nvidia-container-cli: initialization error: nvml error: driver not loaded")
"""
TOOL = """#!/bin/sh
case $1 in
*index*) i=0; while [ $i -lt $(cat {folder}/gpus) ]; do echo "$i, GPU-$i$i$i"; i=$((i + 1)); done ;;
*) for id in "$@"; do case $id in --id=*) touch "{folder}/seen/${{id#--id=}}" ;; esac; done; exec sleep 60 ;;
esac
"""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The engine with its hook, and the tool with its number of GPUs."""

    engine: OwnEngine
    folder: Path

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return sorted(path.read_text().splitlines()) if path.exists() else []

    @property
    def environment(self) -> dict[str, str]:
        return {"DOCKER_HOST": self.engine.address, "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}"}

    def set(self, *, gpus: int, broken: bool = False) -> None:
        for name in ("asked", "broken"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "gpus").write_text(str(gpus))
        if broken:
            (self.folder / "broken").touch()


@pytest.fixture(scope="module")
def machine(image: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("gpus")
    (folder / "seen").mkdir()
    (folder / "seen" / "first").touch()
    for name, text in (
        ("nvidia-container-runtime-hook", HOOK.format(python=sys.executable)),
        ("nvidia-smi", TOOL.format(folder=folder)),
    ):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    engine = OwnEngine(environment={"PATH": path})
    try:
        engine.start()
        engine.load(image("sh"))
        yield Bench(engine=engine, folder=folder)
    finally:
        engine.close()


@pytest.fixture
def job(tmp_path: Path, image: Callable[[str], str]) -> Callable[..., str]:
    def write(name: str, kind: str, count: int = 1, script: str = SHOW, **local: Any) -> str:
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": kind, "InstanceCount": count},
            "Local": local,
        }
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(request))
        return str(path)

    return write


@pytest.mark.slow(2)
def test_hosts_get_gpus_of_their_own(machine: Bench, job: Callable[..., str], smlocal_run: Run) -> None:
    machine.set(gpus=4)
    # Both run until somebody has asked what their GPUs do.
    wait = "cd /opt/ml/input/data/seen; until [ -e 0,1 ] && [ -e 2,3 ]; do sleep 0.1; done"
    path = Path(job("gpus-two-hosts", "ml.g4dn.12xlarge", 2, f"{SHOW}; {wait}"))
    source = {"S3DataType": "S3Prefix", "S3Uri": str(machine.folder / "seen")}
    channel = {"ChannelName": "seen", "InputMode": "FastFile", "DataSource": {"S3DataSource": source}}
    path.write_text(json.dumps({**json.loads(path.read_text()), "InputDataConfig": [channel]}))
    done = smlocal_run("run", path, "--gpus", "2", "--json", env=machine.environment)
    assert done.returncode == 0, done.stderr
    local = json.loads(done.stdout)["Local"]
    assert [host["Gpus"] for host in local["Hosts"]] == [["0", "1"], ["2", "3"]]
    logs = [Path(host["Log"]).read_text() for host in local["Hosts"]]
    assert logs == ["visible: 0,1\n", "visible: 2,3\n"]
    # First the engine was asked whether it would give all of them.
    assert machine.asked == ["prestart 0,1", "prestart 0,1,2,3", "prestart 2,3"]
    assert local["AllowCpu"] is False
    assert "gpu-count" in {note["Id"] for note in local["Notes"]}


@pytest.mark.slow(2)
def test_all_of_the_machine(machine: Bench, job: Callable[..., str], smlocal_run: Run) -> None:
    machine.set(gpus=2)
    done = smlocal_run("run", job("gpus-all", "local_gpu"), "--json", env=machine.environment)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert Path(answer["Local"]["Hosts"][0]["Log"]).read_text() == "visible: all\n"
    assert answer["Local"]["Hosts"][0]["Gpus"] == ["0", "1"]
    assert answer["ResourceConfig"]["InstanceType"] == "local_gpu"


def test_gpus_that_another_job_uses_are_taken_last(
    machine: Bench, job: Callable[..., str], smlocal_run: Run, image: Callable[[str], str]
) -> None:
    machine.set(gpus=2)
    labels = ("--label", "smlocal.job=gpus-elsewhere", "--label", "smlocal.gpus=0")
    machine.engine.docker("create", *labels, "--name", "gpus-elsewhere", image("sh"), "true")
    try:
        one = smlocal_run("plan", job("gpus-free", "ml.g4dn.xlarge"), env=machine.environment).stdout
        assert "GPUs         algo-1: 1 (by a device request)" in one
        assert "gpus-shared" not in one
        both = smlocal_run("plan", job("gpus-free", "ml.g4dn.xlarge"), "--gpus", "2", env=machine.environment).stdout
        assert "GPU 0 is also used by the job gpus-elsewhere" in both
    finally:
        machine.engine.docker("rm", "gpus-elsewhere")
    assert machine.asked == []


def refused(done: "subprocess.CompletedProcess[str]", error: str, *words: str) -> None:
    assert done.returncode == 3, done.stderr
    assert f"[{error}]" in done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_too_few_are_told_before_anything_is_done(machine: Bench, job: Callable[..., str], smlocal_run: Run) -> None:
    machine.set(gpus=3)
    done = smlocal_run("run", job("gpus-few", "ml.p3.8xlarge", 2), env=machine.environment)
    refused(
        done,
        "gpu-unavailable",
        "2 hosts request 8 GPUs (ml.p3.8xlarge has 4), and there are only 3 GPUs: 0, 1, 2",
        "--allow-cpu",
        "--gpus 1",
    )
    unknown = smlocal_run("run", job("gpus-few", "ml.g4dn.xlarge"), "--gpus", "device=0,7", env=machine.environment)
    refused(unknown, "gpu-unknown", "there is no GPU 7 on this machine", "nvidia-smi lists 0, 1, 2")
    assert machine.asked == []
    assert machine.engine.docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=gpus-few") == ""


def test_a_driver_that_does_not_work(machine: Bench, job: Callable[..., str], smlocal_run: Run) -> None:
    machine.set(gpus=1, broken=True)
    done = smlocal_run("run", job("gpus-broken", "ml.g4dn.xlarge"), env=machine.environment)
    refused(done, "gpu-unavailable", "ml.g4dn.xlarge has 1 GPU", "driver not loaded", "--allow-cpu", "--gpus N")
    assert machine.engine.docker("ps", "--all", "--quiet") == ""
    allowed = smlocal_run("run", job("gpus-none", "ml.g4dn.xlarge"), "--allow-cpu", "--json", env=machine.environment)
    answer = json.loads(allowed.stdout)
    assert answer["TrainingJobStatus"] == "Completed"
    assert answer["Local"]["AllowCpu"] is True
    assert Path(answer["Local"]["Hosts"][0]["Log"]).read_text() == "visible: none\n"


def test_nothing_is_pulled_where_there_is_no_driver(job: Callable[..., str], smlocal_run: Run) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a GPU")
    path = Path(job("gpus-absent", "ml.g4dn.xlarge"))
    path.write_text(path.read_text().replace("smlocal-image:", "smlocal-never-made:"))
    done = smlocal_run("run", path, "--gpus", "2")
    refused(
        done,
        "gpu-unavailable",
        "the job requests 2 GPUs",
        "no NVIDIA driver on this machine",
        "is not available locally",
    )
    shown = smlocal_run("plan", path)
    assert shown.returncode == 0
    assert "nvidia-smi was not found" in shown.stdout


@pytest.mark.slow(2)
def test_doctor_asks_the_engine_for_a_gpu(machine: Bench, smlocal_run: Run) -> None:
    found = {}
    for broken in (False, True):
        machine.set(gpus=2, broken=broken)
        done = smlocal_run("doctor", "--need", "gpu", "--json", env=machine.environment)
        checks = {check["Check"]: check for check in json.loads(done.stdout)["Doctor"]["Checks"]}
        found[broken] = (done.returncode, checks["gpu"]["Severity"], checks["gpu"]["Sentence"])
    assert found[False] == (0, "ok", "tested: a container gets a GPU")
    assert found[True][:2] == (3, "problem")
    assert "driver not loaded" in found[True][2]
