from typing import Any

import pytest

from smlocal.platforms.ai_platform.lifecycle.entries import Decision, Happened
from smlocal.platforms.ai_platform.views.history import entry_text


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
        ({"Happened": "cancel", "Cause": "request", "Decision": "cancel"}, "cancelled"),
        (
            {"Happened": "cancel", "Cause": "max-running-time", "Decision": "cancel"},
            "limit of the running time reached, the job is cancelled",
        ),
        ({"Happened": "stock-out", "Decision": "retry-job"}, "no machines in the region, the job is tried again"),
    ],
)
def test_what_happened_and_what_follows(entry: dict[str, Any], text: str) -> None:
    assert entry_text(entry) == text


@pytest.mark.parametrize("happened", Happened)
@pytest.mark.parametrize("decision", Decision)
def test_everything_has_words(happened: Happened, decision: Decision) -> None:
    assert entry_text({"Happened": happened.value, "Decision": decision.value, "Attempt": 1, "ExitCode": 1})
