"""Instances that are taken away and platforms that break: what starts again, with what, and what never does."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.kit.reasons import assert_failed, assert_reason

INTERNAL = "InternalServerError: We encountered an internal error. Please try again."
TRAINED = ["Starting", "Downloading", "Training"]
SPOT = {
    "EnableManagedSpotTraining": True,
    "StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 120},
}
RUN = """run=$(sed 's/.*"jobRunNumber":\\([0-9]*\\).*/\\1/' /opt/ml/input/config/init-config.json); echo run $run
"""
# Its findings matter; then it leaves something in each folder and spoils its input. The trap comes first: before it, a
# shell that is PID 1 ignores SIGTERM.
LOOKS = (
    "trap 'echo late $run >/opt/ml/model/late; exit 1' TERM; "
    + RUN
    + """ls -A /opt/ml/model /opt/ml/output/data; cat /opt/ml/input/data/train/a
echo $run >/opt/ml/model/$run; echo $run >/opt/ml/output/data/$run; echo spoilt >/opt/ml/input/data/train/a
echo ready $run
[ $run -gt $INTERRUPTIONS ] || while :; do sleep 0.05; done
sleep 2
"""
)
FAILS = "exit 3"
UNTIL_READY = (3, 15, 45)
"""Seconds after which `LOOKS` waits for a signal; a machine that was too slow gets more."""
Clean = Callable[[str], None]


def data(life: Any) -> dict[str, Any]:
    (life.folder / "data").mkdir(exist_ok=True)
    (life.folder / "data" / "a").write_text("as given\n")
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}
    return {"InputDataConfig": [{"ChannelName": "train", "DataSource": source}]}


def environment(script: str, interruptions: int) -> dict[str, str]:
    return {"SCRIPT": script, "INTERRUPTIONS": str(interruptions)}


def saw(run: int) -> str:
    """What `LOOKS` writes when its folders are empty and its input is as given."""
    return f"run {run}\n/opt/ml/model:\n\n/opt/ml/output/data:\nas given\nready {run}\n"


def faults(*each: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {"Local": {"Faults": list(each), **settings}}


def test_an_interruption_restarts_the_job_with_empty_folders(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("spot", "", **SPOT, **data(life), Environment=environment(LOOKS, 1))
    life.until_logged("spot", "ready 1")
    done = life("interrupt", "spot")
    assert (done.returncode, done.stderr) == (0, "interrupting spot\n")
    assert life("wait", "spot").returncode == 0
    assert life.log("spot") == saw(1) + saw(2)
    assert life.phases("spot") == [*TRAINED, "Interrupted", *TRAINED, "Uploading", "Completed"]
    assert [path.rpartition("/")[2] for path in life.model("spot")] == ["2"]
    answer = life.describe("spot")
    assert answer["BillableTimeInSeconds"] < answer["TrainingTimeInSeconds"]
    local = answer["Local"]
    assert (local["Attempts"], local["Interruptions"], local["Retries"]) == (2, 1, 0)
    assert (life.folder / "data" / "a").read_text() == "as given\n"
    assert_nothing_left("spot")


@pytest.mark.slow(3)
def test_interruptions_by_the_clock(life: Any, assert_nothing_left: Clean) -> None:
    spot = {**SPOT, "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 600}}
    for seconds in UNTIL_READY:
        name = f"clock-{seconds}"
        fault = {"Kind": "Interrupt", "AfterSeconds": seconds, "Times": 2}
        file = life.job_file(name, "", **spot, **data(life), **faults(fault), Environment=environment(LOOKS, 2))
        done = life("run", file)
        if done.stdout.count("ready ") == 3:
            break
    assert done.returncode == 0, done.stderr
    assert done.stdout == saw(1) + saw(2) + saw(3)
    assert life.phases(name) == [*([*TRAINED, "Interrupted"] * 2), *TRAINED, "Uploading", "Completed"]
    assert life.describe(name)["Local"]["Interruptions"] == 2
    assert_nothing_left(name)


@pytest.mark.slow(1)
def test_an_interruption_of_two_hosts(life: Any, assert_nothing_left: Clean) -> None:
    life.detach(
        "spot-pair",
        "",
        hosts=2,
        **SPOT,
        Environment=environment(f"trap 'exit 1' TERM; {RUN}[ $run = 2 ] || while :; do sleep 0.05; done", 1),
    )
    for host in ("algo-1", "algo-2"):
        life.until_logged("spot-pair", "run 1", host)
    assert life("interrupt", "spot-pair").returncode == 0
    assert life("wait", "spot-pair").returncode == 0
    for host in ("algo-1", "algo-2"):
        assert life.log("spot-pair", host) == "run 1\nrun 2\n"
    assert_nothing_left("spot-pair")


@pytest.mark.slow(2)
def test_max_wait_stops_the_job(life: Any, assert_nothing_left: Clean) -> None:
    script = "trap 'echo saved >/opt/ml/model/saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    fault = {"Kind": "Interrupt", "AfterSeconds": 2, "Times": 1}
    for limit in (10, 30, 90):  # the second attempt must have begun to train by then
        name = f"waited-{limit}"
        condition = {"MaxRuntimeInSeconds": limit, "MaxWaitTimeInSeconds": limit}
        spot = {"EnableManagedSpotTraining": True, "StoppingCondition": condition}
        done = life("run", life.job_file(name, script, **spot, **faults(fault)))
        if life.log(name).count("ready") == 2:
            break
    assert done.returncode == 4, done.stderr
    answer = life.describe(name)
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("Stopped", "MaxWaitTimeExceeded")
    last = answer["SecondaryStatusTransitions"][-1]
    assert last["StatusMessage"] == "Training job wait time exceeded MaxWaitTimeInSeconds provided"
    assert "FailureReason" not in answer
    assert life.phases(name) == [
        *(*TRAINED, "Interrupted", *TRAINED),
        *("Stopping", "Uploading", "MaxWaitTimeExceeded"),
    ]
    assert [path.rpartition("/")[2] for path in life.model(name)] == ["saved"]
    assert_nothing_left(name)


@pytest.mark.slow(2)
def test_the_runtime_covers_all_attempts(life: Any) -> None:
    script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    for limit in (8, 24, 72):  # on a busy machine the interruption may by itself take the rest of it
        name = f"covered-{limit}"
        condition = {"MaxRuntimeInSeconds": limit, "MaxWaitTimeInSeconds": 240}
        fault = {"Kind": "Interrupt", "AfterSeconds": 3 * limit // 4, "Times": 1}
        spot = {"EnableManagedSpotTraining": True, "StoppingCondition": condition}
        done = life("run", life.job_file(name, script, **spot, **faults(fault)))
        spent = [each for each in life.store.transitions(name) if each.status in {"Training", "Interrupted"}]
        trained = [each for each in spent if each.status == "Training"]
        if len(trained) == 2 and trained[1].ended - trained[1].started < limit:
            break
    assert done.returncode == 4, done.stderr
    assert life.job(name).phase == "MaxRuntimeExceeded"
    assert len(trained) == 2
    assert sum(each.ended - each.started for each in spent) >= limit  # what ends after the interruption runs until then
    assert trained[1].ended - trained[1].started < limit


@pytest.mark.slow(2)
def test_only_spot_jobs_in_training_are_interrupted(life: Any) -> None:
    life.detach("demand", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    life.until_logged("demand", "ready")
    done = life("interrupt", "demand")
    assert done.returncode == 2
    assert "EnableManagedSpotTraining" in done.stderr
    life("stop", "demand", "--wait")
    life("run", life.job_file("spot-over", "exit 0", **SPOT))
    done = life("interrupt", "spot-over")
    assert done.returncode == 2
    assert "The request was rejected because the training job is in status Completed." in done.stderr


def test_a_stop_during_an_interruption_stops(life: Any, assert_nothing_left: Clean) -> None:
    ends = "until [ -e /opt/ml/output/go ]; do sleep 0.05; done; exit 1"
    life.detach("spot-stopped-too", f"trap '{ends}' TERM; echo ready; while :; do sleep 0.05; done", **SPOT)
    life.until_logged("spot-stopped-too", "ready")
    assert life("interrupt", "spot-stopped-too").returncode == 0
    life.until_phase("spot-stopped-too", "Interrupted")
    assert life("stop", "spot-stopped-too").returncode == 0
    life.let_go("spot-stopped-too")
    assert life("wait", "spot-stopped-too").returncode == 4
    assert life.job("spot-stopped-too").status == "Stopped"
    assert "FailureReason" not in life.describe("spot-stopped-too")
    assert_nothing_left("spot-stopped-too")


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("when", ["Before", "During", "After"])
def test_a_retry_follows_an_internal_error(life: Any, assert_nothing_left: Clean, when: str) -> None:
    fault = {"Kind": "InternalError", "When": when, "Times": 2}
    retries = {"RetryStrategy": {"MaximumRetryAttempts": 2}}
    script = RUN + "echo $run >/opt/ml/model/$run"
    if when == "During":
        script += "; [ $run -gt 2 ] || sleep 600"
    done = life("run", life.job_file("retried", script, **retries, **faults(fault)))
    assert done.returncode == 0, done.stderr
    path = {"Before": ["Starting", "Downloading"], "During": TRAINED, "After": TRAINED}[when]
    assert life.phases("retried") == [*path, *path, *TRAINED, "Uploading", "Completed"]
    assert [path.rpartition("/")[2] for path in life.model("retried")] == ["3"]
    local = life.describe("retried")["Local"]
    assert (local["Attempts"], local["Interruptions"], local["Retries"]) == (3, 0, 2)
    assert_nothing_left("retried")


@pytest.mark.slow(2)
def test_retries_are_used_up(life: Any, assert_nothing_left: Clean) -> None:
    fault = {"Kind": "InternalError", "When": "During", "Times": 5}
    retries = {"RetryStrategy": {"MaximumRetryAttempts": 2}}
    done = life("run", life.job_file("broken", "sleep 30", **retries, **faults(fault)))
    assert done.returncode == 1, done.stderr
    answer = life.describe("broken")
    assert_reason("fault-internal-error", answer["FailureReason"])
    assert (answer["Local"]["Attempts"], answer["Local"]["Retries"]) == (3, 2)
    assert_nothing_left("broken")


def test_no_retry_without_a_strategy(life: Any) -> None:
    fault = {"Kind": "InternalError", "When": "After"}
    assert life("run", life.job_file("once", "exit 0", **faults(fault))).returncode == 1
    answer = life.describe("once")
    assert_failed("fault-internal-error", answer)
    assert answer["Local"]["Attempts"] == 1


def test_an_algorithm_error_is_never_tried_again(life: Any) -> None:
    retries = {"RetryStrategy": {"MaximumRetryAttempts": 3}}
    assert life("run", life.job_file("own-fault", FAILS, **retries)).returncode == 1
    assert life.job("own-fault").failure_reason == "AlgorithmError: , exit code: 3"
    assert life.phases("own-fault") == [*TRAINED, "Uploading", "Failed"]


@pytest.mark.slow(2)
def test_killed_in_the_second_attempt(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("later", "", **SPOT, **data(life), Environment=environment(LOOKS, 1))
    life.until_logged("later", "ready 1")
    assert life("interrupt", "later").returncode == 0
    life.until_logged("later", "run 2")
    life.crash("later")
    assert life("recover").returncode == 0
    assert life.job("later").status == "Completed"
    assert life.log("later") == saw(1) + saw(2)
    assert [path.rpartition("/")[2] for path in life.model("later")] == ["2"]
    local = life.describe("later")["Local"]
    assert (local["Attempts"], local["Interruptions"]) == (2, 1)
    assert_nothing_left("later")


@pytest.mark.slow(1)
def test_killed_while_being_interrupted(life: Any, assert_nothing_left: Clean) -> None:
    script = RUN + "trap 'sleep 0.5; exit 1' TERM; echo ready; [ $run = 2 ] || while :; do sleep 0.05; done"
    life.detach("shaken", script, **SPOT)
    life.until_logged("shaken", "ready")
    assert life("interrupt", "shaken").returncode == 0
    life.until_phase("shaken", "Interrupted")
    life.crash("shaken")
    assert life("recover").returncode == 0
    assert life.job("shaken").status == "Completed"
    assert life.log("shaken") == "run 1\nready\nrun 2\nready\n"
    assert_nothing_left("shaken")


@pytest.mark.slow(2)
def test_an_orphan_is_interrupted(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("lonely", "", **SPOT, **data(life), Environment=environment(LOOKS, 1))
    life.until_logged("lonely", "ready 1")
    life.crash("lonely")
    assert life("interrupt", "lonely").returncode == 0
    assert life("wait", "lonely").returncode == 0
    assert life.log("lonely") == saw(1) + saw(2)
    assert json.loads((life.home / "jobs" / "lonely" / "describe.json").read_text()) == life.describe("lonely")
    assert_nothing_left("lonely")


@pytest.mark.slow(2)
def test_a_fault_strikes_no_more_often_after_a_crash(life: Any, assert_nothing_left: Clean) -> None:
    fault = {"Kind": "Interrupt", "AfterSeconds": UNTIL_READY[0], "Times": 1}
    life.detach("counted", "", **SPOT, **data(life), **faults(fault), Environment=environment(LOOKS, 1))
    life.until_logged("counted", "run 2")
    life.crash("counted")
    assert life("recover").returncode == 0
    assert life.describe("counted")["Local"]["Interruptions"] == 1
    assert life.phases("counted") == [*TRAINED, "Interrupted", *TRAINED, "Uploading", "Completed"]
    assert_nothing_left("counted")
