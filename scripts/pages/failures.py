"""The tables of docs/failures.md, from the rows that tests on real containers produce."""

from pathlib import Path
from typing import Any

import yaml

_ROWS = Path(__file__).resolve().parents[2] / "tests" / "kit" / "reasons.yaml"
USUAL = ["Training", "Uploading", "Failed"]
"""The statuses after Starting and Downloading that the tables leave out."""


def reasons() -> list[dict[str, Any]]:
    """Every row, in order."""
    rows: list[dict[str, Any]] = yaml.safe_load(_ROWS.read_text(encoding="utf-8"))
    return rows


def reasons_table(name: str) -> str:
    """One table of the page."""
    rows = [row for row in reasons() if row["table"] == name]
    return "\n".join(("| cause | `FailureReason` | statuses |\n|---|---|---|", *map(_row, rows)))


def _row(row: dict[str, Any]) -> str:
    path = "" if row["path"] == USUAL else " → ".join(row["path"])
    reason = row["reason"].replace("\n", "\\n").replace("\t", "\\t").replace("|", "\\|")
    return f"| {row['cause'].replace('|', chr(92) + '|')} | `{reason}` | {path} |"
