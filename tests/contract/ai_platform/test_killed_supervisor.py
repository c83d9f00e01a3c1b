"""Jobs whose supervisor is killed at any moment: they come to the end that they would have had."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.ai_platform.scripts import COUNTED, SLEEPS

Clean = Callable[[str], None]
WORKER = (
    f"{COUNTED} case $n in 1) exit 143;; 2) until [ -e /gcs/b/here ]; do sleep 0.05; done; exit 6;; esac;"
    f" echo last >/gcs/b/last; {SLEEPS}"
)
"""It is restarted once, then the job is retried."""
PRIMARY = (
    "trap 'exit 0' TERM; echo here; touch /gcs/b/here; until [ -e /gcs/b/last ]; do sleep 0.05; done;"
    " for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.05; done"
)
LINES = [f"line {number}" for number in range(1, 10)]


def moments(replicas: Any, job: str) -> dict[str, Callable[[], bool]]:
    def progress(member: str) -> Any:
        return (replicas.lifecycle(job).get("Progress") or {}).get(member)

    return {
        "recorded": lambda: True,
        "staging": lambda: replicas.job(job).phase == "Downloading",
        "starting": lambda: bool(progress("starting")),
        "restart": lambda: bool(replicas.decisions(job, "workerpool1-0")),
        "restarted": lambda: "start 2\n" in replicas.log(job, "workerpool1-0"),
        "retry": lambda: (progress("attempt") or 0) > 1,
        "started again": lambda: "start 3\n" in replicas.log(job, "workerpool1-0"),
        "writing": lambda: "line 3\n" in replicas.log(job, "workerpool0-0"),
        "decided": lambda: (progress("verdict") or {}).get("end") == "succeeded",
        "over": lambda: progress("ended_at") is not None,
    }


@pytest.mark.slow(2)
@pytest.mark.parametrize(
    "kills",
    [
        ("recorded",),
        ("staging", "retry"),
        ("starting", "started again"),
        ("restart", "writing"),
        ("restarted", "decided"),
        ("starting", "restart", "retry", "over"),
    ],
    ids=lambda kills: "-".join(kills).replace(" ", "-"),
)
def test_killed(replicas: Any, assert_nothing_left: Clean, kills: tuple[str, ...]) -> None:
    job = f"aip-killed-{'-'.join(kills).replace(' ', '-')}"
    replicas.begin_recorded(replicas.custom_job(job, (1, PRIMARY), (1, WORKER), StopGraceSeconds=20))
    for moment in kills:
        has_come = moments(replicas, job)[moment]
        replicas.until(lambda has_come=has_come: has_come() or replicas.job(job).status.terminal)
        replicas.crash(job)
        done = replicas("describe", job, "--json")  # any command brings another supervisor
        assert done.returncode == 0, done.stderr
    answer = replicas.finished(job)
    assert answer["state"] == "JOB_STATE_SUCCEEDED", answer["Local"]["Explanation"]
    decided = [each for each in replicas.entries(job) if each["Decision"] != "nothing"]
    assert [(each["Attempt"], each["Replica"], each["Decision"]) for each in decided] == [
        (1, "workerpool1-0", "restart-replica"),
        (1, "workerpool1-0", "retry-job"),
        (2, "workerpool0-0", "succeed"),
    ]
    containers = [(each["Replica"], each["Container"]) for each in replicas.entries(job) if "Container" in each]
    assert len(containers) == len(set(containers))
    marks = ["smlocal: attempt 1 of the job, restart 1", "smlocal: attempt 2 of the job"]
    worker = ["start 1", marks[0], "start 2", marks[1], "start 3"]
    assert replicas.log(job, "workerpool1-0").splitlines() == worker
    assert replicas.log(job, "workerpool0-0").splitlines() == ["here", marks[1], "here", *LINES]
    assert replicas.phases(job)[-1] == "Completed"
    assert_nothing_left(job)


def test_it_was_cancelled_while_nobody_looked(replicas: Any, assert_nothing_left: Clean) -> None:
    polite = "trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    job = "aip-orphan"
    replicas.begin_job(replicas.custom_job(job, (1, polite), (1, polite), StopGraceSeconds=20))
    for host in ("workerpool0-0", "workerpool1-0"):
        replicas.until_logged(job, "ready", host)
    replicas.crash(job)
    replicas.ask_to_stop(job)
    assert replicas("describe", job, "--json").returncode == 0
    answer = replicas.finished(job)
    assert (answer["state"], answer["error"]["message"]) == ("JOB_STATE_CANCELLED", "CANCELED")
    for host in ("workerpool0-0", "workerpool1-0"):
        assert replicas.log(job, host) == "ready\ntold\n"
    assert_nothing_left(job)
