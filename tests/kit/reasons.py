"""Rows of `reasons.yaml`, and what a job or a message must be to be as its row says."""

import re
from pathlib import Path
from typing import Any

import yaml

ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row for row in yaml.safe_load(Path(__file__).with_name("reasons.yaml").read_text(encoding="utf-8"))
}
_REPEATED = re.compile(r"«(.) × (\d+)»")
_LEFT_OPEN = re.compile(r"«[^»]+»")
_DROPPED = re.escape("«: unknown»")
"""Docker 28.5 no longer says it at the end."""


def pattern_of(reason: str) -> str:
    """The row's notation as a regular expression."""
    written_out = _REPEATED.sub(lambda found: found[1] * int(found[2]), reason)
    return _LEFT_OPEN.sub(lambda found: "(: unknown)?" if found[0] == _DROPPED else ".+", re.escape(written_out))


def assert_reason(name: str, reason: str) -> None:
    """Hold a reason against its row."""
    assert re.fullmatch(pattern_of(ROWS[name]["reason"]), reason, re.DOTALL), reason


def assert_failed(name: str, answer: dict[str, Any]) -> None:
    """Hold a failed job against its row: the reason, and the path to Failed."""
    assert "FailureReason" in answer, answer
    assert_reason(name, answer["FailureReason"])
    assert len(answer["FailureReason"]) <= 1024
    path = [each["Status"] for each in answer["SecondaryStatusTransitions"]]
    assert path == ["Starting", "Downloading", *ROWS[name]["path"]]
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("Failed", "Failed")
    assert answer["SecondaryStatusTransitions"][-1]["StatusMessage"] == "Training job failed"
