"""The status of an evaluation, in a file that is always complete."""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass

LONGEST_DETAILS = 1024
"""Characters of StatusDetails, by the API."""
FILE = "status.json"
_BETWEEN_SIGNS = 1.0
"""Seconds."""

IN_PROGRESS, NO_ISSUES, ISSUES, ERROR = "InProgress", "NoIssuesFound", "IssuesFound", "Error"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an evaluation stands."""

    status: str
    details: str = ""
    step: int | None = None
    """At which the condition was met, or the last one that was judged."""
    reason: str | None = None
    """The finding of a built-in rule. StatusDetails is smdebug's own sentence."""

    def document(self) -> dict[str, object]:
        """As it is written."""
        details = self.details if len(self.details) <= LONGEST_DETAILS else self.details[: LONGEST_DETAILS - 1] + "…"
        document: dict[str, object] = {"Status": self.status, "StatusDetails": details, "Step": self.step}
        return document if self.reason is None else document | {"Reason": self.reason}


class Progress:
    """Writes the status again after new data was read, so that waiting processes go on.

    Repeated data is not progress.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[int] = set()
        self._written = float("-inf")

    def read(self, *what: object) -> None:
        """These words name what was read."""
        key = hash(what)
        if key in self._seen:
            return
        self._seen.add(key)
        if time.monotonic() - self._written >= _BETWEEN_SIGNS:
            self._written = time.monotonic()
            with suppress(OSError):  # a full disk, or another thread of the rule
                write_status(self._path, Outcome(status=IN_PROGRESS))


def write_status(path: str, outcome: Outcome) -> None:
    """Replace the status at `path`, which is a file, or a folder for one."""
    path = os.path.join(path, FILE) if os.path.isdir(path) else path
    draft = f"{path}.draft"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(outcome.document(), file)
    os.replace(draft, path)
