from typing import Any

from smlocal.ai_platform.views_of_jobs import bars
from smlocal.jobs.view import Bar, Span


def attempt(number: int, at: float) -> dict[str, Any]:
    return {"At": at, "Happened": "attempt", "Attempt": number, "Decision": "nothing"}


def exited(replica: str, number: int, at: float, code: int, decision: str, **more: Any) -> dict[str, Any]:
    known = {"At": at, "Happened": "exited", "Attempt": number, "Decision": decision}
    return {**known, "Replica": replica, "ExitCode": code, "OomKilled": False, **more}


def test_a_replica_that_was_restarted_has_two_spans() -> None:
    entries = [
        attempt(1, 1.0),
        exited("worker 0", 1, 2.0, 137, "restart-replica", Restarts=0),
        exited("master 0", 1, 4.0, 0, "succeed"),
        exited("worker 0", 1, 5.0, 143, "nothing", Restarts=1),
    ]
    assert list(bars(entries, 5.5)) == [
        Bar(name="master 0", spans=(Span(began=1.0, ended=4.0, text="exit 0, the job has succeeded"),)),
        Bar(
            name="worker 0",
            spans=(
                Span(began=1.0, ended=2.0, text="exit 137, restarted (1 of 5)", good=False),
                Span(began=2.0, ended=5.0, text="exit 143"),
            ),
        ),
    ]


def test_several_attempts_have_a_bar_of_their_own() -> None:
    entries = [
        attempt(1, 1.0),
        exited("master 0", 1, 2.0, 134, "retry-job"),
        attempt(2, 3.0),
        exited("master 0", 2, 4.0, 143, "move-replica"),
    ]
    first, replica = bars(entries, None)
    assert first == Bar(
        name="attempts",
        spans=(Span(began=1.0, ended=3.0, text="attempt 1"), Span(began=3.0, ended=None, text="attempt 2")),
    )
    assert [(span.began, span.ended, span.text) for span in replica.spans] == [
        (1.0, 2.0, "exit 134, the job is retried"),
        (3.0, 4.0, "exit 143, continues on another machine"),
        (4.0, None, "restarted"),
    ]
