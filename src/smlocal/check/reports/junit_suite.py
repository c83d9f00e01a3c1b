"""A check as JUnit cases: one for each rule, also for those that passed or were skipped."""

from smlocal.check.interface import CheckReport, Outcome, RuleResult, Severity
from smlocal.check.reports.text import finding_line, finding_lines, ignored_lines, skipped_lines, valid_text
from smlocal.ci.junit import Case, CaseVerdict, Suite

_GROUP = "smlocal.check"


def check_suite(report: CheckReport, fail_on: Severity) -> Suite:
    """What makes the command fail is a failure. Other findings are in the output of a case that passed."""
    return Suite(name=report.image, cases=tuple(_case(result, fail_on) for result in report.results))


def _case(result: RuleResult, fail_on: Severity) -> Case:
    rule = result.rule
    found = [finding_line(each) for each in result.findings]
    fails = bool(found) and result.severity.rank >= fail_on.rank
    skipped = result.outcome is Outcome.SKIPPED
    first = result.findings[0] if found else None
    return Case(
        name=rule.id,
        group=_GROUP,
        seconds=result.seconds,
        verdict=CaseVerdict.FAILED if fails else CaseVerdict.SKIPPED if skipped else CaseVerdict.PASSED,
        kind=result.severity,
        message=_message(found) if fails else valid_text(result.skipped),
        text="\n".join([*_found(result), "", result.remedy, "", rule.why]) if fails else "",
        output="\n".join(_output(result, found, fails=fails)),
        file=first.file if first is not None and fails else "",
        line=first.line if first is not None and fails else 0,
    )


def _found(result: RuleResult) -> list[str]:
    return [line for finding in result.findings for line in finding_lines(finding)]


def _message(found: list[str]) -> str:
    return found[0] if len(found) == 1 else f"{found[0]}, and {len(found) - 1} more"


def _output(result: RuleResult, found: list[str], *, fails: bool) -> list[str]:
    notes = []
    if found and not fails:
        severity = result.severity
        notes = ["\n".join((f"{severity}: {first}", *more)) for first, *more in map(finding_lines, result.findings)]
        notes.append(result.remedy)
    broken_off = skipped_lines(result) if found or result.skipped_details or result.test else []
    return [*notes, *broken_off, *ignored_lines(result)]
