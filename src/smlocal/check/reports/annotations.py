"""The findings of a check as annotations, and a check on the page of a run."""

from collections.abc import Callable, Iterator

from smlocal.check.interface import CheckReport, Outcome, RuleResult, Severity
from smlocal.check.reports.text import ignored_lines, skipped_lines, valid_text, where
from smlocal.ci.services import Annotation, Level
from smlocal.ci.summary import folded, heading, limited, table

_LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING, Severity.INFO: Level.NOTICE}


def check_annotations(report: CheckReport, place: Callable[[str], str]) -> Iterator[Annotation]:
    """One for each finding, the worst first: services show only some. `place` makes a path relative to the repository.

    A finding that belongs to no file is placed at the Dockerfile or the job file of the check.
    """
    for result in _worst_first(report):
        for finding in result.findings:
            file = place(finding.file) or place(report.dockerfile or report.job_file)
            yield Annotation(
                level=_LEVELS[result.severity],
                title=result.rule.id,
                message=valid_text("\n".join((finding.message, *finding.details, result.remedy))),
                file=file,
                line=finding.line if file else 0,
            )


def check_summary(report: CheckReport) -> str:
    """A table of what was found, and what was skipped or ignored below it."""
    found = [
        (
            result.severity,
            result.rule.id,
            valid_text("\n".join((finding.message, *finding.details, result.remedy))),
            where(finding),
        )
        for result in _worst_first(report)
        for finding in result.findings
    ]
    outcomes = [result.outcome for result in report.results]
    passed = f"{outcomes.count(Outcome.PASSED)} of {len(outcomes)} rules passed."
    others = [f"{each.rule.id}: " + "\n".join(skipped_lines(each)) for each in report.results if each.skipped]
    others += [f"{each.rule.id}: {line}" for each in report.results for line in ignored_lines(each)]
    return limited(
        [
            heading(f"smlocal check {report.image}"),
            f"{passed}\n\n",
            *([table(("severity", "rule", "finding", "where"), found)] if found else []),
            *([folded("Skipped and ignored", "\n".join(others))] if others else []),
        ]
    )


def _worst_first(report: CheckReport) -> list[RuleResult]:
    return sorted(report.results, key=lambda result: -result.severity.rank)
