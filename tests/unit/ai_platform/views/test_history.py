from typing import Any

import pytest

from smlocal.ai_platform.lifecycle.actions import Decision, Happened
from smlocal.ai_platform.views_of_jobs import entry_text, what_follows_now


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"Happened": "attempt", "Attempt": 2, "Decision": "nothing"}, "attempt 2"),
        (
            {
                "Happened": "exited",
                "Replica": "workerpool1-0",
                "ExitCode": 137,
                "Restarts": 2,
                "Decision": "restart-replica",
            },
            "workerpool1-0: exit 137, restarted (3 of 5)",
        ),
        (
            {"Happened": "exited", "Replica": "master 0", "ExitCode": 137, "OomKilled": True, "Decision": "fail"},
            "master 0: out of memory, exit 137, the job fails",
        ),
        (
            {"Happened": "lost", "Replica": "ps 0", "Why": "its container was removed", "Decision": "nothing"},
            "ps 0: container gone (its container was removed)",
        ),
        (
            {"Happened": "exited", "Replica": "master 0", "ExitCode": 1, "Error": "user-exception", "Decision": "fail"},
            "master 0: exit 1 (user exception), the job fails",
        ),
        (
            {"Happened": "exited", "Replica": "worker 0", "ExitCode": 137, "Signal": "SIGKILL", "Decision": "nothing"},
            "worker 0: exit 137 after SIGKILL",
        ),
        ({"Happened": "cancel", "Cause": "request", "Decision": "cancel"}, "cancelled"),
        (
            {"Happened": "cancel", "Cause": "max-running-time", "Decision": "cancel"},
            "limit of the running time reached, the job is cancelled",
        ),
        ({"Happened": "stock-out", "Decision": "retry-job"}, "no machines in the region, the job is retried"),
    ],
)
def test_what_happened_and_what_follows(entry: dict[str, Any], text: str) -> None:
    assert entry_text(entry) == text


@pytest.mark.parametrize("happened", Happened)
@pytest.mark.parametrize("decision", Decision)
def test_everything_has_words(happened: Happened, decision: Decision) -> None:
    assert entry_text({"Happened": happened.value, "Decision": decision.value, "Attempt": 1, "ExitCode": 1})


@pytest.mark.parametrize(
    ("happened", "decision", "others", "text"),
    [
        ("exited", "succeed", True, "the other replicas are stopped (up to 30 s)"),
        ("lost", "fail", True, "the other replicas are stopped (up to 30 s)"),
        ("exited", "retry-job", True, "the other replicas are stopped (up to 30 s), the job is retried"),
        ("exited", "retry-job", False, "the job is retried"),
        ("exited", "succeed", False, ""),
        ("exited", "restart-replica", True, "restarted (1 of 5)"),
        ("internal-error", "fail", True, ""),
        ("cancel", "cancel", True, ""),
    ],
)
def test_what_follows_while_others_run(happened: str, decision: str, others: bool, text: str) -> None:
    entry = {"Happened": happened, "Decision": decision}
    assert what_follows_now(entry, others_running=others, grace=30.0) == text
