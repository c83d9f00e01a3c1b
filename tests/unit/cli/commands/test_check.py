"""What `smlocal check` prints."""

import pytest

from smlocal.check.cannot_look import JOB_FILE_NEEDED
from smlocal.check.interface import CheckReport, Finding, Ignored, RuleResult, Severity
from smlocal.check.registry import all_rules, chosen_rules
from smlocal.check.subject import LaunchProfile
from smlocal.cli.checking import not_counted, not_tested, show_check


def test_rules_that_are_skipped_for_one_reason_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = ["the job fails", "", "there is no data", "the job fails"]
    results = tuple(
        RuleResult(rule=rule, seconds=0, skipped=reason) for rule, reason in zip(all_rules(), reasons, strict=False)
    )
    ids = [result.rule.id for result in results]
    show_check(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results))
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
    show_check(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results))
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
    show_check(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results))
    assert capsys.readouterr().err == "x: 1 of 2 rules passed, 1 ignored\n"


def test_what_was_not_tested_comes_with_the_command_that_tests_it(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third, fourth, *_ = all_rules()
    results = (
        RuleResult(rule=first, seconds=0, skipped="it was too short", test="let it train longer"),
        RuleResult(rule=second, seconds=0, skipped="it was too short", test="let it train longer"),
        RuleResult(rule=third, seconds=0, skipped="there is no job file", test=JOB_FILE_NEEDED),
        RuleResult(rule=fourth, seconds=0, skipped="there are no channels"),
    )
    report = CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results)
    show_check(report, "smlocal check job.yaml")
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert shown[2] == (
        f"to test them: let it train longer, then: smlocal check job.yaml --only {first.id} --only {second.id}"
    )
    assert shown[4] == "to test it: write a job file, and check that"
    assert len(shown) == 6
    (line,) = not_tested(report, "smlocal check job.yaml")
    assert line == f"not tested: {first.id}, {second.id}, {third.id} (how to test: above)"
    for profile, says in ((None, "it needs a job"), ("serve", "it needs an endpoint"), ("processing", "")):
        left = chosen_rules(profiles=[LaunchProfile(profile)] if profile else [])
        *_, line = "", *[*not_tested(report, "smlocal check job.yaml", left)][1:]
        assert (says in line, line.endswith("smlocal check job.yaml")) == (True, bool(says))
    assert list(not_counted(report, "error")) == []


def test_a_reason_that_a_finding_has_is_not_shown_again(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third, *_ = all_rules()
    lines = ("Traceback:", "  oh no")
    finding = Finding(message="it does not complete: Failed: …", details=lines)
    results = (
        RuleResult(rule=first, seconds=0, findings=(finding,)),
        RuleResult(rule=second, seconds=0, skipped="it fails", skipped_details=("Failed: …", *lines)),
        RuleResult(rule=third, seconds=0, skipped="it fails", skipped_details=("Failed: …", *lines)),
    )
    show_check(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results))
    assert capsys.readouterr().out.count("oh no") == 1
    show_check(CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results[1:]))
    assert capsys.readouterr().out.count("oh no") == 1


def test_warnings_that_do_not_count_are_no_success() -> None:
    rule = next(each for each in all_rules() if each.severity is Severity.WARNING)
    results = (RuleResult(rule=rule, seconds=0, findings=(Finding(message="it leaves nothing"),)),)
    report = CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results)
    (line,) = not_counted(report, "error")
    assert "--fail-on warning" in line
    assert list(not_counted(report, "warning")) == []


def test_what_could_not_be_run_is_no_success() -> None:
    first, second, third, *_ = all_rules()
    finding = Finding(message="a mistake", severity=Severity.ERROR)
    passed = RuleResult(rule=first, seconds=0)
    found = RuleResult(rule=second, seconds=0, findings=(finding,))
    unready = RuleResult(rule=third, seconds=0, skipped="the disk is full", test="solve that first", code=3)
    for results, code, said in (
        ((passed,), 0, []),
        ((passed, unready), 3, ["exit code 3: nothing was run, for the reason above"]),
        ((passed, found, unready), 3, []),  # the finding decides
    ):
        report = CheckReport(image="x", image_id="", job_file="", dockerfile="", results=results)
        assert report.not_run == code
        assert list(not_counted(report, "error")) == said
