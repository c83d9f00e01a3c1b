"""The status of an evaluation, in a file that is always complete."""

import json
import os
from dataclasses import dataclass

LONGEST_DETAILS = 1024
"""Characters of StatusDetails, by the API."""
FILE = "status.json"

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


def write_status(path: str, outcome: Outcome) -> None:
    """Replace the status at `path`, which is a file, or a folder for one."""
    path = os.path.join(path, FILE) if os.path.isdir(path) else path
    draft = f"{path}.draft"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(outcome.document(), file)
    os.replace(draft, path)
