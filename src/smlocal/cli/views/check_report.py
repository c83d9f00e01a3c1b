"""The report of `smlocal check` on a screen."""

import sys
from collections.abc import Iterable, Iterator

import click

from smlocal.check.cannot_look import JOB_FILE_NEEDED
from smlocal.check.interface import CheckReport, Finding, Outcome, RuleResult, Severity
from smlocal.cli.terminal.layout import width_of, wrapped
from smlocal.cli.terminal.printable import printable

_MARKS = {"error": "✗", "warning": "!", "info": "·"}
_SKIPPED = "?"
_INDENT = 2
_MOST_NAMED = 4
"""Rules in a command, or in the last line."""


def show_check(report: CheckReport, again: str = "smlocal check …") -> None:
    """Show what was found, what was skipped, and how it ended; `again`: the command for another look."""
    name = max((len(result.rule.id) for result in report.results), default=0)
    told = ""
    for result in report.results:
        for finding in result.findings:
            _line(_MARKS[result.severity], result.rule.id, finding.message, name, where=_where(finding))
            _details(finding.details, name)
            told = "\n".join((told, finding.message, *finding.details))
        if result.findings:
            _more(result.remedy, name)
        for ignored in result.ignored:
            _line("-", result.rule.id, f"ignored ({ignored.reason}): {ignored.finding.message}", name)
    for reason, results in _skipped(report).items():
        ids = [each.rule.id for each in results]
        _line(_SKIPPED, ids[0] if len(ids) == 1 else f"{len(ids)} rules", f"skipped: {reason}", name)
        if len(ids) > 1:
            _more(", ".join(ids), name)
        details = results[0].skipped_details
        if not all(line.strip() in told for line in details):  # the job whose end is the reason is often a finding
            _details(details, name)
        told = "\n".join((told, reason, *details))
        if test := results[0].test:
            command = "" if test == JOB_FILE_NEEDED else f", then: {_only(again, ids)}"
            _more(f"to test {'it' if len(ids) == 1 else 'them'}: {test}{command}", name)
    click.echo(_conclusion(report), err=True)


def _only(again: str, ids: list[str]) -> str:
    """The command for these rules; without them where they are many."""
    return again if len(ids) > _MOST_NAMED else " ".join([again, *(f"--only {each}" for each in ids)])


def not_tested(report: CheckReport, again: str, *, static: bool) -> Iterator[str]:
    """What nobody should take for passed."""
    ids = [result.rule.id for result in report.results if result.test]
    if ids:
        yield f"not tested: {', '.join(ids) if len(ids) <= _MOST_NAMED else f'{len(ids)} rules'} (how to test: above)"
    if static:
        yield f"not tested: what only jobs show, such as SIGTERM and a missing model; to test it: {again}"


def not_counted(report: CheckReport, fail_on: str) -> Iterator[str]:
    """Why the exit code is 0 although something was found."""
    if not report.fails(Severity(fail_on)) and report.fails(Severity.WARNING):
        yield "exit code 0: warnings do not count; they do with --fail-on warning"


def _skipped(report: CheckReport) -> dict[str, list[RuleResult]]:
    """The rules that were skipped, by the reason: a job that fails is the reason of a dozen."""
    found: dict[str, list[RuleResult]] = {}
    for result in report.results:
        if result.skipped:
            found.setdefault(result.skipped, []).append(result)
    return found


def _line(mark: str, rule: str, text: str, name: int, *, where: str = "") -> None:
    head = f"{mark} {rule:<{name}}  "
    width = width_of(sys.stdout)
    shown = printable(f"{text} ({where})" if where else text)
    click.echo(head + "\n".join(wrapped(" ".join(shown.split("\n")), indent=len(head), width=width)))


def _more(text: str, name: int) -> None:
    indent = name + _INDENT + 2
    click.echo(" " * indent + "\n".join(wrapped(printable(text), indent=indent, width=width_of(sys.stdout))))


def _details(lines: Iterable[str], name: int) -> None:
    for line in lines:
        text = line.lstrip()
        _more(text, name + len(line) - len(text))


def _where(finding: Finding) -> str:
    places = [f"{finding.file}:{finding.line}" if finding.line else finding.file, finding.job, finding.host]
    return ", ".join(place for place in places if place)


def _conclusion(report: CheckReport) -> str:
    counts = []
    for severity in Severity:
        number = sum(len(each.findings) for each in report.results if each.severity is severity)
        if number:
            word = {"error": "error", "warning": "warning", "info": "note"}[severity]
            counts.append(f"{number} {word}{'s' * (number != 1)}")
    passed = sum(result.outcome is Outcome.PASSED for result in report.results)
    skipped = sum(result.outcome is Outcome.SKIPPED for result in report.results)
    ignored = sum(len(result.ignored) for result in report.results)
    counts.append(f"{passed} of {len(report.results)} rules passed")
    counts += [f"{skipped} skipped"] * bool(skipped) + [f"{ignored} ignored"] * bool(ignored)
    return printable(f"{report.image}: {', '.join(counts)}")
