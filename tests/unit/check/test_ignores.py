"""Findings that are ignored, are not any more, and never were."""

from datetime import date

import pytest
from tests.unit.check.images import subject
from tests.unit.check.test_content_rules import job

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.examine import Ignore, examine, ignores_of, without_ignored
from smlocal.check.interface import CheckReport, Finding, Mark, Outcome, Rule, RuleResult, Severity
from smlocal.check.registry import all_rules, chosen_rules
from smlocal.check.subject import LaunchProfile, Subject
from smlocal.errors import CheckRuleUnknownError, RequestInvalidError

TODAY = date(2026, 11, 23)
KNOWN = {rule.id: rule for rule in all_rules()}


def rule(*paths: str, id: str = "reserved-files", skipped: str = "") -> Rule:  # noqa: A002 - as the rule has it
    def check(_: Subject) -> list[Finding]:
        if skipped:
            raise CannotLookError(skipped)
        return [Finding(message=f"at {path}", path=path) for path in paths]

    return Rule(id=id, severity=Severity.ERROR, title="T", why="W.", mark=Mark.SEEN, remedy="R.", check=check)


def judged(rules: list[Rule], *ignores: Ignore) -> dict[str, RuleResult]:
    own = [KNOWN["ignore-unused"], KNOWN["ignore-expired"]]
    results = without_ignored(examine([*rules, *own], subject()), ignores, TODAY)
    return {result.rule.id: result for result in results}


def test_a_finding_that_is_ignored_keeps_its_reason() -> None:
    found = judged([rule("/opt/ml/a", "/opt/ml/b")], Ignore(id="reserved-files", reason="why", path="*/a"))
    result = found["reserved-files"]
    assert [finding.path for finding in result.findings] == ["/opt/ml/b"]
    assert [(each.finding.path, each.reason) for each in result.ignored] == [("/opt/ml/a", "why")]
    assert found["ignore-unused"].outcome is Outcome.PASSED
    result = judged([rule("/opt/ml/a")], Ignore(id="reserved-files", reason="why"))["reserved-files"]
    assert result.outcome is Outcome.IGNORED


@pytest.mark.parametrize(("until", "counts"), [("2026-11-22", False), ("2026-11-23", True), ("", True)])
def test_the_last_day_counts_and_the_next_does_not(until: str, counts: bool) -> None:
    found = judged([rule("/x")], Ignore(id="reserved-files", reason="why", until=until))
    assert bool(found["reserved-files"].ignored) is counts
    assert [finding.message for finding in found["ignore-expired"].findings] == (
        [] if counts else [f"the ignore of reserved-files ended on {until}: why"]
    )
    assert found["ignore-unused"].outcome is Outcome.PASSED


def test_one_that_matches_nothing_is_a_finding_where_the_rule_was_judged() -> None:
    wrong = Ignore(id="reserved-files", reason="why", path="/y", file="job.yaml", line=7)
    (finding,) = judged([rule("/x")], wrong)["ignore-unused"].findings
    assert finding == Finding(
        message="the ignore of reserved-files at /y matches no finding: why", file="job.yaml", line=7
    )
    for rules in ([rule(skipped="the image was not read")], [rule("/x", id="other")]):
        assert judged(rules, wrong)["ignore-unused"].outcome is Outcome.PASSED


def test_what_cannot_be_judged_is_skipped() -> None:
    result = judged([rule(skipped="a layer is damaged")])["reserved-files"]
    assert (result.outcome, result.skipped) == (Outcome.SKIPPED, "a layer is damaged")


def test_ignores_of_a_job_file() -> None:
    ignore = {"Id": "reserved-files", "Reason": "why", "Path": "/opt/ml/*", "Until": "2026-12-31"}
    (found,) = ignores_of(job(Local={"Check": {"Ignore": [ignore]}}))
    assert found == Ignore(
        id="reserved-files", reason="why", path="/opt/ml/*", until="2026-12-31", file="job.yaml", line=0
    )
    with pytest.raises(CheckRuleUnknownError) as caught:
        ignores_of(job(Local={"Check": {"Ignore": [{"Id": "reserved-file", "Reason": "why"}]}}))
    assert caught.value.remedy[0] == "Did you mean reserved-files?"


@pytest.mark.parametrize(
    ("ignore", "said"),
    [
        ({"Id": "stop-signal"}, "Reason"),
        ({"Id": "stop-signal", "Reason": "  "}, "write why it is ignored"),
        ({"Id": "stop-signal", "Reason": ""}, "Reason"),
        ({"Id": "stop-signal", "Reason": "x", "Until": "2026-13-01"}, "'2026-13-01' is not a day"),
        ({"Id": "stop-signal", "Reason": "x", "Until": "soon"}, "ntil"),
        ({"Reason": "x"}, "Id"),
    ],
)
def test_an_ignore_without_a_reason_or_with_a_wrong_day_is_refused(ignore: dict[str, str], said: str) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        job(Local={"Check": {"Ignore": [ignore]}})
    assert said in " ".join(caught.value.details)


def test_which_rules_are_asked() -> None:
    always = {rule.id for rule in chosen_rules()}
    assert "toolkit-programs" not in always
    assert {rule.id for rule in chosen_rules(profiles=[LaunchProfile.TOOLKIT])} - always == {"toolkit-programs"}
    assert [rule.id for rule in chosen_rules(only=["toolkit-programs"])] == ["toolkit-programs"]
    assert always - {rule.id for rule in chosen_rules(skip=["stop-signal"])} == {"stop-signal"}
    with pytest.raises(CheckRuleUnknownError, match="--only: there is no rule 'stop-signals'"):
        chosen_rules(only=["stop-signals"])
    with pytest.raises(CheckRuleUnknownError, match="--skip: there is no rule 'stop-signals'"):
        chosen_rules(skip=["stop-signals"])


def test_what_fails_a_check() -> None:
    results = tuple(judged([rule("/x")]).values())
    report = CheckReport(image="i", image_id="", job_file="", dockerfile="", results=results)
    assert report.fails(Severity.ERROR)
    assert report.fails(Severity.INFO)
    only_unused = judged(
        [rule("/x")], Ignore(id="reserved-files", reason="w"), Ignore(id="reserved-files", reason="w", path="y")
    )
    report = CheckReport(image="i", image_id="", job_file="", dockerfile="", results=tuple(only_unused.values()))
    assert not report.fails(Severity.ERROR)
    assert report.fails(Severity.WARNING)
