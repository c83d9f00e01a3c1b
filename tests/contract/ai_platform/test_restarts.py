"""Replicas that are restarted in place, and jobs that are tried again, on a real engine."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.ai_platform.scripts import COUNTED, SLEEPS, UNTIL_GO
from tests.kit.fixtures import leftovers

Clean = Callable[[str], None]
NON_ZERO = "The replica {} exited with a non-zero status of {}. Termination reason: {}."


def container(docker: Callable[..., str], job: str, host: str) -> dict[str, Any]:
    """The engine's record of a replica's container."""
    labels = ("--filter", f"label=smlocal.job={job}", "--filter", f"label=smlocal.host={host}")
    (found,) = json.loads(docker("inspect", *docker("ps", "--all", "--quiet", *labels).split()))
    known: dict[str, Any] = found
    return known


def place(known: dict[str, Any]) -> str:
    """The members that a restart must not change."""
    (network,) = known["NetworkSettings"]["Networks"].values()
    return str((known["Config"]["Hostname"], network["IPAddress"], known["Mounts"]))


@pytest.mark.slow(2)
def test_restarted_in_place_while_its_peers_go_on(
    replicas: Any, docker: Callable[..., str], assert_nothing_left: Clean
) -> None:
    """It exits, is killed and is removed; then it is done while the primary replica goes on."""
    job, worker = "aip-in-place", "workerpool1-0"
    script = f"{COUNTED} case $n in 1) exit 143;; [234]) {SLEEPS};; *) exit 0;; esac"
    replicas.begin_job(replicas.custom_job(job, (1, UNTIL_GO), (1, script), (1, UNTIL_GO)))
    peers = ("workerpool0-0", "workerpool2-0")
    for host in peers:
        replicas.until_logged(job, "ready", host)
    places, states = set(), set()
    for number, end in ((2, ("kill",)), (3, ("rm", "--force")), (4, ("kill",))):
        replicas.until_logged(job, f"start {number}\n", worker)
        known = container(docker, job, worker)
        places.add(place(known))
        for host in peers:
            peer = container(docker, job, host)
            states.add((peer["Id"], peer["State"]["Pid"], peer["State"]["StartedAt"]))
        docker(*end, known["Id"])
    replicas.until(lambda: ("exited", 0, "nothing") in replicas.decisions(job, worker))
    assert replicas.job(job).phase == "Training"
    assert len(places) == 1
    assert len(states) == len(peers)
    (replicas.bucket / "go").touch()
    answer = replicas.finished(job)
    assert (answer["state"], "error" in answer) == ("JOB_STATE_SUCCEEDED", False)
    assert answer["createTime"] < answer["startTime"] < answer["endTime"]
    first, second, removed, *rest = replicas.decisions(job, worker)
    assert [first, second] == [("exited", 143, "restart-replica"), ("exited", 137, "restart-replica")]
    # The engine says how a removed container ended, or that there is none.
    assert removed in {("lost", None, "restart-replica"), ("exited", 137, "restart-replica")}
    assert rest == [("exited", 137, "restart-replica"), ("exited", 0, "nothing")]
    marks = [f"smlocal: attempt 1 of the job, restart {number}" for number in range(1, 5)]
    lines = ["start 1", *(line for number, mark in enumerate(marks, 2) for line in (mark, f"start {number}"))]
    assert replicas.log(job, worker).splitlines() == lines
    assert leftovers(answer) == []
    assert_nothing_left(job)


@pytest.mark.slow(2)
def test_a_replica_that_always_fails_is_restarted_five_times_in_each_attempt(
    replicas: Any, assert_nothing_left: Clean
) -> None:
    """With one retry left after three stock-outs: the other attempts would be like these two."""
    replicas.begin_job(replicas.training_job("aip_always", "exit 143", Faults=[{"Kind": "StockOut", "Times": 2}]))
    answer = replicas.finished("aip_always")
    assert (answer["state"], answer["errorMessage"]) == ("FAILED", NON_ZERO.format("master 0", 143, "Error"))
    attempt = [("exited", 143, "restart-replica")] * 5
    last = ("exited", 143, "fail")
    assert replicas.decisions("aip_always", "master 0") == [*attempt, ("exited", 143, "retry-job"), *attempt, last]
    assert replicas.decisions("aip_always") == [
        ("attempt", None, "nothing"),
        *[("stock-out", None, "retry-job"), ("attempt", None, "nothing")] * 2,
        ("attempt", None, "nothing"),
    ]
    assert answer["Local"]["Retries"] == 3
    assert_nothing_left("aip_always")


@pytest.mark.slow(2)
def test_a_transient_error_and_a_restart_of_the_whole_job(replicas: Any, assert_nothing_left: Clean) -> None:
    """The second attempt follows maintenance, the third an exit code, the fourth the restart of a replica."""
    worker = f"{COUNTED} case $n in 2) exit 6;; 3) exit 143;; 4) touch /gcs/b/go;; esac; {SLEEPS}"
    file = replicas.custom_job(
        "aip-whole",
        (1, UNTIL_GO),
        (1, worker),
        spec={"scheduling": {"restartJobOnWorkerRestart": True}},
        Faults=[{"Kind": "Maintenance", "Replica": "workerpool1-0", "AfterSeconds": 1}],
        StopGraceSeconds=5,
    )
    replicas.begin_job(file)
    answer = replicas.finished("aip-whole")
    assert answer["state"] == "JOB_STATE_SUCCEEDED"
    decided = [each for each in replicas.entries("aip-whole") if each["Decision"] != "nothing"]
    assert [(each["Attempt"], each["Happened"], each["Decision"]) for each in decided] == [
        (1, "maintenance", "restart-job"),
        (2, "exited", "retry-job"),
        (3, "exited", "retry-job"),
        (4, "exited", "succeed"),
    ]
    lines = [line for number in range(2, 5) for line in (f"smlocal: attempt {number} of the job", f"start {number}")]
    assert replicas.log("aip-whole", "workerpool1-0").splitlines() == ["start 1", *lines]
    assert answer["Local"]["Retries"] == 2
    assert_nothing_left("aip-whole")


def test_all_replicas_fail_in_the_same_instant(replicas: Any, assert_nothing_left: Clean) -> None:
    fails = "echo 'Traceback (most recent call last):'; exit 9"
    script = f"echo ready; until [ -e /gcs/b/go ]; do sleep 0.01; done; {fails}"
    replicas.begin_job(replicas.custom_job("aip-instant", (1, script), (2, script)))
    for host in ("workerpool0-0", "workerpool1-0", "workerpool1-1"):
        replicas.until_logged("aip-instant", "ready", host)
    (replicas.bucket / "go").touch()
    answer = replicas.finished("aip-instant")
    ends = [each for each in replicas.entries("aip-instant") if each["Happened"] == "exited"]
    assert [each["Decision"] for each in ends] == ["fail", "nothing", "nothing"]
    message = f"{NON_ZERO.format(ends[0]['Replica'], 9, 'Error')} \nTraceback (most recent call last):"
    assert (answer["state"], answer["error"]) == ("JOB_STATE_FAILED", {"code": 3, "message": message})
    assert answer["Local"]["FailedHost"] == ends[0]["Replica"]
    assert_nothing_left("aip-instant")


def test_a_program_that_is_not_there(replicas: Any, assert_nothing_left: Clean) -> None:
    file = replicas.custom_job("aip-no-program", (1, UNTIL_GO), (1, UNTIL_GO))
    request = json.loads(file.read_text())
    request["jobSpec"]["workerPoolSpecs"][1]["containerSpec"]["command"] = ["/nowhere"]
    file.write_text(json.dumps(request))
    replicas.begin_job(file)
    answer = replicas.finished("aip-no-program")
    message = NON_ZERO.format("workerpool1-0", 127, "ContainerCannotRun")
    assert (answer["state"], answer["error"]) == ("JOB_STATE_FAILED", {"code": 3, "message": message})
    assert "/nowhere" in answer["Local"]["Explanation"]
    assert "startTime" not in answer
    assert_nothing_left("aip-no-program")
