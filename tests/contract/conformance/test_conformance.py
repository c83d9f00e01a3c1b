"""The image of `smlocal conformance` in real jobs: what it sees is what the contract promises."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from tests.kit import until
from tests.kit.fixtures import build_image
from tests.kit.forked import run_smlocal

from smlocal.jobs.history import STOP
from smlocal.jobs.store.jobs import Store
from smlocal.service.conformance.reading import documents

GRACE = 3
CONFIG = [
    *("checkpointconfig.json", "hyperparameters.json", "init-config.json", "inputdataconfig.json"),
    *("metric-definition-regex.json", "resourceconfig.json"),
]
OF_THE_SERVICE = {
    *("AWS_REGION", "DMLC_INTERFACE", "HOSTNAME"),
    *("SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY", "SAGEMAKER_METRICS_DIRECTORY"),
    *("TRAINING_JOB_ARN", "TRAINING_JOB_NAME"),
}


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What `conformance run` left."""

    folder: Path
    image: str
    jobs: dict[str, Any]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SMLOCAL_", "AWS_"))}
        return {**kept, "SMLOCAL_HOME": str(self.folder / "home")}

    def smlocal(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return run_smlocal(arguments, environment=self.environment, cwd=self.folder)

    def host(self, case: str, host: str = "algo-1") -> Any:
        return self.jobs[case]["Hosts"][host]

    def name(self, case: str) -> str:
        return str(self.host(case)["Environment"]["TRAINING_JOB_NAME"])


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """All jobs of the image, side by side."""
    folder = tmp_path_factory.mktemp("conformance")
    seen = Ran(folder=folder, image="", jobs={})
    assert seen.smlocal("conformance", "build", "--output", "context").returncode == 0
    image = build_image(folder / "context")
    done = seen.smlocal("conformance", "run", "--image", image, "--grace", str(GRACE))
    assert (done.returncode, done.stdout) == (0, "conformance.json\n"), done.stderr
    return Ran(folder=folder, image=image, jobs=json.loads((folder / "conformance.json").read_text())["Jobs"])


@pytest.mark.slow(2)
def test_the_tree_and_the_files_are_those_of_the_contract(ran: Ran, assert_nothing_left: Callable[[str], None]) -> None:
    for case in ran.jobs:
        assert_nothing_left(ran.name(case))
    for host in ("algo-1", "algo-2"):
        seen = ran.host("everything", host)
        assert not [name for name, part in seen.items() if isinstance(part, dict) and "Error" in part]
        tree = seen["Tree"]
        assert {(each["User"], each["Group"]) for each in tree.values()} == {(0, 0)}
        assert {each["Mode"] for each in tree.values() if each["Kind"] == "folder"} == {"0755"}
        assert {each["Mode"] for each in tree.values() if each["Kind"] == "file"} == {"0644"}
        assert [*seen["Config"]] == CONFIG
        assert {path.removeprefix("/opt/ml/input/data/") for path, each in tree.items() if each["Kind"] == "fifo"} == {
            "pipe_0",
            "records_0",
        }
        assert [*seen["Manifests"]] == ["checkpoints-manifest", "file-manifest", "sharded-manifest"]
        assert json.loads(seen["Config"]["resourceconfig.json"])["current_host"] == host
        assert seen["Network"]["Hosts"].keys() == {"algo-1", "algo-2"}
        assert all("Address" in each for each in seen["Network"]["Hosts"].values())
    alone = ran.host("stopped")
    assert [path for path in alone["Tree"] if path.startswith("/opt/ml/input/data/")] == []
    assert alone["Config"]["inputdataconfig.json"] == "{}"
    assert "/opt/ml/checkpoints" not in alone["Tree"]


@pytest.mark.slow(3)
def test_the_environment_is_that_of_the_contract(ran: Ran) -> None:
    variables = ran.host("everything")["Environment"]
    assert variables.keys() >= OF_THE_SERVICE
    assert (variables["CONFORMANCE_TEXT"], variables["CONFORMANCE_EMPTY"]) == ("with a space", "")
    assert not [name for name in variables if name.startswith(("SM_", "ECS_"))]
    assert variables["HOSTNAME"].startswith("ip-10-")
    assert variables["TRAINING_JOB_ARN"].endswith(f":<account>:training-job/{ran.name('everything')}")
    first = ran.host("everything")["FirstProcess"]
    assert first["Arguments"] == ["python3", "/smlocal-conformance.py", "train"]
    assert first["OpenFiles"]["0"] == "/dev/null"
    assert ran.host("everything")["Devices"]["Terminals"] == [False, False, False]


def test_limits_and_rights_are_those_of_a_plain_container(ran: Ran, docker: Callable[..., str]) -> None:
    plain = documents("docker run", docker("run", "--rm", ran.image, "train"))["algo-1"]
    seen = ran.host("stopped")
    assert seen["Limits"]["Resources"] == plain["Limits"]["Resources"]
    for member in ("ControlGroup", "SharedMemory"):
        assert seen["Limits"][member] == plain["Limits"][member]
    for member in ("Capabilities", "Seccomp", "NoNewPrivileges", "User", "Groups", "Umask", "WorkingDirectory"):
        assert seen["Process"][member] == plain["Process"][member]


def test_channels_of_each_mode(ran: Ran) -> None:
    first, second = (ran.host("everything", host)["Channels"] for host in ("algo-1", "algo-2"))
    assert [*first["file"]["Files"]] == ["empty", "first.txt", "folder/deeper/third.txt", "folder/second.bin"]
    assert (first["file"]["Writing"], first["fast"]["Writing"]) == ("works", "EROFS")
    # In the order of a listing, in turn: part-1, part-10, part-2, part-3, part-4.
    assert [*first["sharded"]["Files"]] == ["part-1", "part-2", "part-4"]
    assert [*second["sharded"]["Files"]] == ["part-10", "part-3"]
    assert [epoch["Bytes"] for epoch in first["pipe"]["Epochs"]] == [35, 35]
    assert [epoch["Bytes"] for epoch in first["records"]["Epochs"]] == [8 + 5 + 3 + 8] * 2


def test_ends(ran: Ran) -> None:
    ends = {case: job["Outcome"] for case, job in ran.jobs.items()}
    assert {case: end["TrainingJobStatus"] for case, end in ends.items()} == {
        "everything": "Completed",
        "stopped": "Stopped",
        "failed": "Failed",
    }
    # 1024 bytes of the file, without the character that they cut; then 1024 characters in all.
    assert ends["failed"]["FailureReason"] == "AlgorithmError: " + 1008 * "x"
    assert ends["everything"]["Metrics"] == ["conformance:version"]
    model = ran.jobs["everything"]["Archives"]["Model"]
    assert model["traces/link"]["Target"] == "same"
    assert model["traces/same"]["Content"] == "algo-2"
    for case in ("stopped", "failed"):
        signals = ran.host(case)["Signals"]
        assert signals["Seen"] == ["SIGTERM"]
        assert 0.5 < signals["SecondsToTheLastSignOfLife"] < GRACE + 60


def test_the_log_alone_has_the_same_document(ran: Ran) -> None:
    rmtree(ran.folder / "smlocal-output")
    done = ran.smlocal("conformance", "diff", ran.name("stopped"), "conformance.json", "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)["Conformance"]
    assert {each["Rule"] for each in found["Expected"]} <= {"seconds-to-kill"}
    assert found["OnlyInB"] == ["everything", "failed"]


@pytest.mark.slow(5)
def test_submit_stops_the_job_that_is_ready_and_saves_what_it_leaves(ran: Ran) -> None:
    # The service is this project's own endpoint, in another process and another home.
    (ran.folder / "make_bucket.py").write_text(
        "import boto3; boto3.client('s3').create_bucket(Bucket='of-conformance')"
    )
    submit = [
        sys.executable,
        "-m",
        "smlocal",
        "conformance",
        "submit",
        "--case",
        "stopped",
        "--yes",
        "--image",
        ran.image,
    ]
    submit += ["--role", "arn:aws:iam::123456789012:role/mine", "--upload-to", "s3://of-conformance/some/where"]
    script = f"{sys.executable} make_bucket.py && exec {shlex.join([*submit, '--output', 'saved'])}"
    home = {"SMLOCAL_HOME": str(ran.folder / "other-home")}
    command = [sys.executable, "-m", "smlocal", "exec", "--", "sh", "-c", script]
    environment = {**ran.environment, **home}
    with subprocess.Popen(command, cwd=ran.folder, env=environment, stdout=subprocess.PIPE, text=True) as process:

        def stopping() -> bool:
            found = run_smlocal(("describe", "@last", "--json"), environment=environment)
            assert process.poll() is None
            return found.returncode == 0 and json.loads(found.stdout)["TrainingJobStatus"] == "Stopping"

        until(stopping)
        run_smlocal(("stop", "@last", "--grace", "1"), environment=environment)  # not the 120 seconds of the service
        assert process.communicate(timeout=120)[0] == "service.json\n"
    assert process.returncode == 0
    (job,) = json.loads((ran.folder / "service.json").read_text())["Jobs"].values()
    assert job["Outcome"]["SecondaryStatus"] == "Stopped"
    assert job["Hosts"]["algo-1"]["Signals"]["Seen"] == ["SIGTERM"]
    assert job["Archives"].keys() == {"Model", "Output"}
    (saved,) = (ran.folder / "saved").iterdir()
    names = {path.name for path in saved.iterdir()}
    assert names == {"model.tar.gz", "output.tar.gz", "describe.json", "log.txt"}


@pytest.mark.slow(2)
def test_jobs_of_a_command_that_was_killed_are_not_waited_for(
    ran: Ran, assert_nothing_left: Callable[[str], None]
) -> None:
    """They would live on for the grace of the service, and the one that is to be stopped would never be stopped."""
    home = ran.folder / "home-of-killed"
    environment = {**ran.environment, "SMLOCAL_HOME": str(home)}
    command = [sys.executable, "-m", "smlocal", "conformance", "run", "--image", ran.image]
    with subprocess.Popen([*command, "--case", "stopped", "--case", "failed"], cwd=ran.folder, env=environment) as run:
        until(lambda: all(_logged(home, word) for word in ("sign algo-1 SIGTERM", "ready to be stopped")))
        run.kill()
    with Store.open(str(home)) as store:
        names = [record.name for record in store.unfinished()]
        for record in store.unfinished():
            assert record.supervisor_pid is not None
            os.kill(record.supervisor_pid, signal.SIGKILL)
        done = run_smlocal(("recover",), environment=environment)
        assert done.returncode == 0, done.stderr
        assert "the command that waited for them was killed" in done.stderr
        assert [str(store.get(name).status) for name in names] == ["Stopped", "Stopped"]
        for name in names:
            stops: list[Any] = [each.data for each in store.events(name) if each.kind == STOP]
            assert stops[-1]["Grace"] == 0
    for name in names:
        assert_nothing_left(name)
    assert list((home / "owners").iterdir()) == []


def _logged(home: Path, word: str) -> bool:
    return any(word in path.read_text(errors="replace") for path in home.glob("jobs/*/logs/*.log"))


@pytest.fixture
def tag(docker: Callable[..., str]) -> Iterator[str]:
    name = "smlocal-conformance-of-a-test"
    yield name
    docker("rmi", "--force", name)


def test_build_on_a_base(ran: Ran, tag: str, docker: Callable[..., str]) -> None:
    done = ran.smlocal("conformance", "build", "--base", ran.image, "--tag", tag)
    assert (done.returncode, done.stdout) == (0, f"{tag}\n"), done.stderr
    entrypoint = docker("image", "inspect", "--format", "{{json .Config.Entrypoint}}", tag)
    assert json.loads(entrypoint) == ["python3", "/smlocal-conformance.py"]
