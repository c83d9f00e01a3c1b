import json
import os
from pathlib import Path
from typing import Any

import pytest

from smlocal.debugger.rule_container import Evaluation, read_result
from smlocal.sagemaker.contract.outcome.reasons import RuleStatus


def test_what_a_rule_says(tmp_path: Path) -> None:
    document = {"Status": "IssuesFound", "StatusDetails": "found", "Step": 40, "Reason": "it is flat"}
    (tmp_path / "status.json").write_text(json.dumps(document))
    said = Evaluation(status=RuleStatus.ISSUES_FOUND, details="found", step=40, reason="it is flat")
    assert read_result(str(tmp_path)) == said


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", "{}", '{"Status": "Stopped"}', '{"Status": ["IssuesFound"]}', "[" * 100_000, "\x00\xff"],
)
def test_what_is_no_status(tmp_path: Path, text: str) -> None:
    (tmp_path / "status.json").write_text(text)
    assert read_result(str(tmp_path)) is None


@pytest.mark.parametrize("step", [None, True, "40", [1]])
def test_a_step_that_is_none(tmp_path: Path, step: Any) -> None:
    (tmp_path / "status.json").write_text(json.dumps({"Status": "Error", "Step": step}))
    result = read_result(str(tmp_path))
    assert result is not None
    assert result.step is None


def test_no_link_is_followed_and_no_fifo_is_waited_for(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"Status": "Error", "StatusDetails": "secret"}')
    folder = tmp_path / "result"
    folder.mkdir()
    assert read_result(str(folder)) is None
    (folder / "status.json").symlink_to(secret)
    assert read_result(str(folder)) is None
    (folder / "status.json").unlink()
    os.mkfifo(folder / "status.json")
    assert read_result(str(folder)) is None
