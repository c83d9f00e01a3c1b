"""What `smlocal check` prints."""

import pytest

from smlocal.check.interface import CheckReport, RuleResult
from smlocal.check.registry import all_rules
from smlocal.cli.commands.check import _show


def test_rules_that_are_skipped_for_one_reason_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = ["the job fails", "", "there is no data", "the job fails"]
    results = tuple(
        RuleResult(rule=rule, seconds=0, skipped=reason) for rule, reason in zip(all_rules(), reasons, strict=False)
    )
    ids = [result.rule.id for result in results]
    _show(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results))
    shown = [
        line.split(maxsplit=1)[-1] if "?" in line else line.strip() for line in capsys.readouterr().out.splitlines()
    ]
    assert [" ".join(line.split()) for line in shown] == [
        "2 rules skipped: the job fails",
        f"{ids[0]}, {ids[3]}",
        f"{ids[2]} skipped: there is no data",
    ]
