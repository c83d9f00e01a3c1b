"""One stop ladder for every hand: recorded, SIGTERM, grace, SIGKILL; and what the service says of the result."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAVES = "trap 'echo late >/opt/ml/model/late; exit 5' TERM; echo early >/opt/ml/model/early; echo ready; "
SAVES += "while :; do sleep 0.05; done"
DEAF = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
TRAINED = ["Starting", "Downloading", "Training"]
Clean = Callable[[str], None]


def refused(done: Any, *words: str) -> None:
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def events(life: Any, name: str, *kinds: str) -> list[tuple[str, Any]]:
    return [(each.kind, each.data) for each in life.store.events(name) if each.kind in kinds]


def test_a_stop_from_another_process(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("other", SAVES)
    life.until_logged("other", "ready")
    stop = life("stop", "other")
    assert (stop.returncode, stop.stdout, stop.stderr) == (0, "", "stopping other\n")
    assert life("wait", "other").returncode == 4
    assert_nothing_left("other")
    answer = life.describe("other")
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("Stopped", "Stopped")
    assert "FailureReason" not in answer
    told = [(each["Status"], each["StatusMessage"]) for each in answer["SecondaryStatusTransitions"]]
    assert told == [
        ("Starting", "Preparing the instances for training"),
        ("Downloading", "Downloading the training image"),
        ("Training", "Training image download completed. Training in progress."),
        ("Stopping", "Stopping the training job"),
        ("Uploading", "Uploading generated training model"),
        ("Stopped", "Training job stopped"),
    ]
    (host,) = answer["Local"]["Hosts"]
    assert (host["ExitCode"], host["Signalled"], host["Killed"]) == (5, True, False)
    assert life.model("other") == ["./early", "./late"] or life.model("other") == ["early", "late"]
    first, *_, last = events(life, "other", "stop", "signal")
    assert first == ("stop", {"Cause": "request", "Grace": None})
    assert last[0] == "signal"
    assert (last[1]["Host"], last[1]["Signal"], last[1]["Error"]) == ("algo-1", "SIGTERM", None)


def test_stop_can_wait_for_the_end(life: Any) -> None:
    life.detach("awaited", SAVES)
    life.until_logged("awaited", "ready")
    done = life("stop", "awaited", "--wait")
    assert done.returncode == 0, "it did what was asked"
    assert done.stderr.startswith("stopping awaited (to kill it at once: smlocal stop awaited --grace 0)\n")
    assert re.search(r"^awaited: Stopped after \d+\.\d s$", done.stderr, re.MULTILINE)
    assert life.job("awaited").status == "Stopped"


def test_an_unknown_job(life: Any) -> None:
    for command in ("stop", "interrupt", "wait", "logs", "describe"):
        refused(life(command, "nobody"), "Requested resource not found.")


@pytest.mark.parametrize(("script", "status"), [("exit 0", "Completed"), ("exit 3", "Failed")])
def test_a_finished_job(life: Any, script: str, status: str) -> None:
    life("run", life.job_file("finished", script))
    refused(life("stop", "finished"), f"The request was rejected because the training job is in status {status}.")
    assert life.job("finished").status == status


def test_a_stopped_job(life: Any) -> None:
    life.detach("over", SAVES)
    life.until_logged("over", "ready")  # before its trap, a shell that is PID 1 ignores SIGTERM
    assert life("stop", "over", "--wait").returncode == 0
    refused(life("stop", "over"), "The request was rejected because the training job is in status Stopped.")


@pytest.mark.slow(1)
def test_a_grace_that_cannot_be(life: Any) -> None:
    life.detach("graceful", SAVES)
    life.until_logged("graceful", "ready")
    for grace in ("-1", "-0.001", "121", "nan", "inf", "-inf", "soon"):
        refused(life("stop", "graceful", f"--grace={grace}"), "--grace")
    for grace in ("-1", "nan", "inf", "1e300"):
        refused(life("stop", "graceful", f"--grace={grace}", "--force"), "--grace")
    assert life.job("graceful").status == "InProgress"
    assert life("stop", "graceful", "--grace", "121", "--force", "--wait").returncode == 0


def test_a_second_stop_changes_nothing_but_may_shorten_the_grace(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("twice", DEAF)
    life.until_logged("twice", "ready")
    for _ in range(2):
        assert life("stop", "twice").returncode == 0
    assert life.job("twice").status == "Stopping"
    assert life("stop", "twice", "--grace", "0", "--wait").returncode == 0
    assert life.phases("twice") == [*TRAINED, "Stopping", "Uploading", "Stopped"]
    signals = [data["Signal"] for _, data in events(life, "twice", "signal")]
    assert signals == ["SIGTERM", "SIGKILL"]
    assert_nothing_left("twice")


def test_no_grace_for_a_deaf_container(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("unheeding", DEAF)
    life.until_logged("unheeding", "ready")
    assert life("stop", "unheeding", "--grace", "0", "--wait").returncode == 0
    answer = life.describe("unheeding")
    (host,) = answer["Local"]["Hosts"]
    assert (host["ExitCode"], host["Signalled"], host["Killed"], host["OomKilled"]) == (137, True, True, False)
    (hint,) = answer["Local"]["Hints"]
    assert "SIGTERM" in hint
    assert "FailureReason" not in answer
    assert_nothing_left("unheeding")


def test_rm_kills_and_removes_what_runs(life: Any, assert_nothing_left: Clean) -> None:
    for name in ("to-remove-1", "to-remove-2"):
        life.detach(name, DEAF)
        life.until_logged(name, "ready")
    refused(life("rm", "to-remove-*"), "is not finished")
    done = life("rm", "--stop", "to-remove-*")
    assert (done.returncode, sorted(done.stderr.splitlines())) == (0, ["removed to-remove-1", "removed to-remove-2"])
    assert life.store.list() == []
    for name in ("to-remove-1", "to-remove-2"):
        assert_nothing_left(name)


@pytest.mark.slow(1)
def test_the_grace_of_the_job_file(life: Any) -> None:
    life.detach("own-grace", DEAF, Local={"StopGraceSeconds": 1})
    life.until_logged("own-grace", "ready")
    assert life("stop", "own-grace", "--wait").returncode == 0
    sent = {each.data["Signal"]: each.at for each in life.store.events("own-grace") if each.kind == "signal"}
    assert sent["SIGKILL"] - sent["SIGTERM"] >= 1


def test_a_stop_at_the_very_beginning(life: Any, assert_nothing_left: Clean) -> None:
    from smlocal.errors import JobUnknownError
    from smlocal.jobs.control.requests import ask_to_stop

    def asked() -> bool:
        try:
            ask_to_stop(life.store, "at-once", grace=None)
        except JobUnknownError:
            return False
        return True

    with life.begin("run", "--detach", life.job_file("at-once", SAVES)) as command:
        life.until(asked)
        command.communicate(timeout=60)
    assert life("wait", "at-once").returncode == 4
    assert life.phases("at-once") in (
        ["Starting", "Stopping", "Stopped"],
        ["Starting", "Downloading", "Stopping", "Stopped"],
        ["Starting", "Downloading", "Stopping", "Uploading", "Stopped"],
        [*TRAINED, "Stopping", "Uploading", "Stopped"],  # on a busy machine it may have come later than it looks
    )
    assert_nothing_left("at-once")


@pytest.mark.slow(1)
@pytest.mark.parametrize("hosts", [1, 2])
def test_a_stop_while_downloading_skips_uploading(
    life: Any, tmp_path: Path, assert_nothing_left: Clean, hosts: int
) -> None:
    data = tmp_path / "data"
    for folder in range(200):
        (data / str(folder)).mkdir(parents=True)
        for file in range(100):
            (data / str(folder) / str(file)).touch()
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}
    channels = [{"ChannelName": "train", "DataSource": source}]
    for number in range(10):
        name = f"slow-{hosts}-{number}"
        life.launch(name, SAVES, hosts=hosts, InputDataConfig=channels, Local={"Staging": "copy"})
        life.until_phase(name, "Downloading")
        life.ask_to_stop(name)
        assert life("wait", name).returncode == 4
        if "Training" not in life.phases(name):
            break
    assert life.phases(name) == ["Starting", "Downloading", "Stopping", "Stopped"]
    answer = life.describe(name)
    assert answer["TrainingTimeInSeconds"] >= 1
    assert life.model(name) == []
    assert not (life.home / "jobs" / name / "staged").exists()
    assert_nothing_left(name)


@pytest.mark.slow(4)
def test_a_stop_while_uploading_keeps_what_is_packed(life: Any, assert_nothing_left: Clean) -> None:
    life.launch("packed", "dd if=/dev/urandom of=/opt/ml/model/big bs=1M count=400 2>/dev/null")
    life.until_phase("packed", "Uploading")
    life.ask_to_stop("packed")
    assert life("wait", "packed").returncode == 4
    assert life.phases("packed") == [*TRAINED, "Uploading", "Stopping", "Stopped"]
    assert [path.rpartition("/")[2] for path in life.model("packed")] == ["big"]
    assert_nothing_left("packed")


@pytest.mark.slow(1)
def test_a_stop_of_two_hosts(life: Any, assert_nothing_left: Clean) -> None:
    script = r"""host=$(sed 's/.*"current_host":"\([^"]*\)".*/\1/' /opt/ml/input/config/resourceconfig.json)
    trap 'echo late >/opt/ml/model/$host; exit 1' TERM; echo ready; while :; do sleep 0.05; done"""
    life.detach("pair", script, hosts=2)
    for host in ("algo-1", "algo-2"):
        life.until_logged("pair", "ready", host)
    assert life("stop", "pair", "--wait").returncode == 0
    assert life.phases("pair") == [*TRAINED, "Stopping", "Uploading", "Stopped"]
    assert [path.rpartition("/")[2] for path in life.model("pair")] == ["algo-1", "algo-2"]
    assert [host["ExitCode"] for host in life.describe("pair")["Local"]["Hosts"]] == [1, 1]
    assert_nothing_left("pair")


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("script", "limit", "code", "status", "secondary", "message"),
    [
        ("exit 0", 60, 0, "Completed", "Completed", "Training job completed"),
        ("exit 1", 60, 1, "Failed", "Failed", "Training job failed"),
        (
            *(SAVES, 3, 4, "Stopped", "MaxRuntimeExceeded"),
            "Training job runtime exceeded MaxRuntimeInSeconds provided",
        ),
    ],
)
def test_the_result_table(
    life: Any, script: str, limit: int, code: int, status: str, secondary: str, message: str
) -> None:
    done = life("run", life.job_file("result", script, StoppingCondition={"MaxRuntimeInSeconds": limit}))
    assert done.returncode == code, done.stderr
    answer = life.describe("result")
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == (status, secondary)
    assert answer["SecondaryStatusTransitions"][-1]["StatusMessage"] == message
    assert ("FailureReason" in answer) == (status == "Failed")


@pytest.mark.slow(1)
def test_the_limit_counts_from_the_start_of_training(life: Any) -> None:
    assert life("run", life.job_file("limited", SAVES, StoppingCondition={"MaxRuntimeInSeconds": 2})).returncode == 4
    transitions = life.describe("limited")["SecondaryStatusTransitions"]
    (training,) = (each for each in transitions if each["Status"] == "Training")
    assert training["EndTime"] - training["StartTime"] >= 2


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 0}}, ["maxRuntimeInSeconds", "greater than or equal to 1"]),
        (
            {
                "EnableManagedSpotTraining": True,
                "StoppingCondition": {"MaxRuntimeInSeconds": 10, "MaxWaitTimeInSeconds": 9},
            },
            ["MaxWaitTimeInSeconds", "MaxRuntimeInSeconds"],
        ),
        (
            {"StoppingCondition": {"MaxRuntimeInSeconds": 10, "MaxWaitTimeInSeconds": 20}},
            ["MaxWaitTimeInSeconds", "EnableManagedSpotTraining"],
        ),
    ],
)
def test_limits_that_the_service_refuses(life: Any, members: dict[str, Any], words: list[str]) -> None:
    refused(life("run", "--detach", life.job_file("limits", "exit 0", **members)), *words)
    assert life.store.count() == 0
