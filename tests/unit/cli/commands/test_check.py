"""What `smlocal check` prints."""

import pytest

from smlocal.check.interface import CheckReport, Finding, Ignored, RuleResult
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


def test_details_and_the_remedy_of_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, *_ = all_rules()
    finding = Finding(
        message="it fails", details=("hint: set it", "last lines of the log:", "  no \x1b data"), remedy="Do."
    )
    results = (
        RuleResult(rule=first, seconds=0, findings=(finding,)),
        RuleResult(rule=second, seconds=0, skipped="it failed", skipped_details=("  oh no",)),
    )
    _show(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results))
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].endswith("it fails")
    indent = shown[0].index("it fails")
    assert [line[indent:] for line in shown[1:5]] == [
        "hint: set it",
        "last lines of the log:",
        "  no \\x1b data",
        "Do.",
    ]
    assert [line[indent:] for line in shown[5:]] == ["skipped: it failed", "  oh no"]


def test_a_rule_whose_findings_are_ignored_has_not_passed(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, *_ = all_rules()
    ignored = Ignored(finding=Finding(message="known"), reason="why")
    results = (RuleResult(rule=first, seconds=0, ignored=(ignored,)), RuleResult(rule=second, seconds=0))
    _show(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results))
    assert capsys.readouterr().err == "x: 1 of 2 rules passed, 1 ignored\n"
