"""The lifecycle of a job, as the store keeps it: enough for a later supervisor, and the job's history."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.ai_platform.lifecycle import messages
from smlocal.ai_platform.lifecycle.actions import HistoryEntry
from smlocal.ai_platform.lifecycle.events import CancelCause
from smlocal.ai_platform.lifecycle.progress import AttemptVerdict, JobProgress, read_progress
from smlocal.ai_platform.lifecycle.states import ErrorClass
from smlocal.base.quick_dataclass import dataclass

LIFECYCLE: Final = "lifecycle"
"""The kind of the document."""


@dataclass(kw_only=True, slots=True)
class StoredLifecycle:
    """The decisions and events so far, and the further state that a later supervisor needs."""

    progress: JobProgress
    entries: list[dict[str, Any]] = field(default_factory=list)
    """With the time of each."""
    logged: dict[str, int] = field(default_factory=dict)
    """Bytes of each replica's log from its earlier containers, by host."""
    error: Mapping[str, Any] | None = None
    """The code and the message of the job's error, once it has ended."""

    def add(self, entry: HistoryEntry, at: float) -> None:
        """Note that something has happened."""
        self.entries.append({"At": round(at, 3), **entry.as_json()})

    @property
    def cancel(self) -> tuple[CancelCause, float]:
        """Why the job is being cancelled, and the grace period; a request, if it is not."""
        cause = next((each for each in reversed(self.entries) if "Cause" in each), None)
        if cause is None:
            return CancelCause.REQUEST, 0.0
        return CancelCause(cause["Cause"]), float(cause.get("Grace", 0.0))

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "Progress": self.progress.stored(),
            "Entries": self.entries,
            "Logged": self.logged,
            "Error": self.error,
        }


def read_lifecycle(document: Mapping[str, Any]) -> StoredLifecycle:
    """The reverse of `StoredLifecycle.document`."""
    return StoredLifecycle(
        progress=read_progress(document["Progress"]),
        entries=list(document["Entries"]),
        logged=dict(document["Logged"]),
        error=document["Error"],
    )


# Why a job ended, in the service's words.

_WITHOUT_TRACEBACK = {ErrorClass.OUT_OF_MEMORY, ErrorClass.STOCK_OUT, ErrorClass.INTERNAL, None}


def reason_of(verdict: AttemptVerdict | None, log: str) -> str:
    """The message of a verdict; `log` is the end of the replica's log. None: smlocal could not run the job."""
    if verdict is None:
        return f"{messages.INTERNAL}{f': {log}' if log else ''}"
    return verdict.message if verdict.error in _WITHOUT_TRACEBACK else messages.with_traceback(verdict.message, log)
