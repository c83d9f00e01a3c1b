"""Ask rules about an image, and judge what they say, without the findings that somebody has decided to live with."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Finding, Ignored, Outcome, Rule, RuleResult
from smlocal.check.registry import check_ids
from smlocal.check.subject import Subject
from smlocal.jobfile.job_reading import AskedJob

UNUSED = "ignore-unused"
EXPIRED = "ignore-expired"
"""Rules about the ignores themselves, which are judged when all others have been."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ignore:
    """One decision."""

    id: str
    reason: str
    until: str = ""
    """Its last day, as YYYY-MM-DD; empty: for ever."""
    path: str = ""
    """Only at this path of the image; `*` and `?` as in a shell."""
    file: str = ""
    """The job file that has it; empty for one of the command line."""
    line: int = 0

    def is_over(self, today: date) -> bool:
        """Whether it counts no more."""
        return bool(self.until) and date.fromisoformat(self.until) < today

    def matches(self, rule: str, finding: Finding) -> bool:
        """Whether it is about this finding of that rule."""
        return rule == self.id and (not self.path or fnmatchcase(finding.path, self.path))


def examine(rules: Iterable[Rule], subject: Subject) -> Iterator[RuleResult]:
    """The result of each rule, as soon as there is one."""
    for rule in rules:
        began = time.monotonic()
        findings: list[Finding] = []
        skipped = ""
        details: tuple[str, ...] = ()
        test, code = "", 0
        try:
            findings += rule.check(subject)
        except CannotLookError as error:
            skipped, details, test, code = str(error), error.details, error.test, error.code
        yield RuleResult(
            rule=rule,
            seconds=time.monotonic() - began,
            findings=tuple(findings),
            skipped=skipped,
            skipped_details=details,
            test=test,
            code=code,
        )


def without_ignored(
    results: Iterable[RuleResult],
    ignores: Sequence[Ignore],
    today: date,
    place: Callable[[Finding], Finding] = lambda finding: finding,
) -> tuple[RuleResult, ...]:
    """The results without ignored findings, with the mistakes in the ignores; `place` says where to correct them."""
    placed = [
        replace(result, findings=tuple(map(place, result.findings))) if result.findings else result
        for result in results
    ]
    left = with_ignores(placed, ignores, today)
    extra = {UNUSED: unused(left, ignores, today), EXPIRED: expired(ignores, today)}
    return tuple(replace(each, findings=extra.get(each.rule.id, each.findings)) for each in left)


def ignores_of(job: AskedJob) -> tuple[Ignore, ...]:
    """Those of `Local.Check.Ignore`."""
    found = []
    for index, each in enumerate(job.local.Check.Ignore):
        line = job.document.nearest_line(("Local", "Check", "Ignore", index)) or 0
        check_ids([each.Id], f"{job.document.name}:{line}" if line else job.document.name)
        found.append(
            Ignore(
                id=each.Id,
                reason=each.Reason.strip(),
                until=each.Until or "",
                path=each.Path or "",
                file=job.document.name,
                line=line,
            )
        )
    return tuple(found)


def with_ignores(results: Iterable[RuleResult], ignores: Sequence[Ignore], today: date) -> tuple[RuleResult, ...]:
    """Take ignored findings out of the results, and keep them with their reasons."""
    current = [each for each in ignores if not each.is_over(today)]
    return tuple(_without(result, current) for result in results)


def _without(result: RuleResult, ignores: Sequence[Ignore]) -> RuleResult:
    left, ignored = [], list(result.ignored)
    for finding in result.findings:
        reason = next((each for each in ignores if each.matches(result.rule.id, finding)), None)
        if reason is None:
            left.append(finding)
        else:
            ignored.append(Ignored(finding=finding, reason=reason.reason, until=reason.until))
    return replace(result, findings=tuple(left), ignored=tuple(ignored))


def unused(results: Sequence[RuleResult], ignores: Sequence[Ignore], today: date) -> tuple[Finding, ...]:
    """A finding for each that matched nothing, of rules that were judged."""
    judged = {result.rule.id: result for result in results if result.outcome is not Outcome.SKIPPED}
    found = []
    for each in ignores:
        result = judged.get(each.id)
        if result is None or each.is_over(today):
            continue
        if not any(each.matches(each.id, one.finding) for one in result.ignored):
            where = f" at {each.path}" if each.path else ""
            message = f"the ignore of {each.id}{where} matches no finding: {each.reason}"
            found.append(Finding(message=message, file=each.file, line=each.line))
    return tuple(found)


def expired(ignores: Sequence[Ignore], today: date) -> tuple[Finding, ...]:
    """A finding for each that is past its last day."""
    return tuple(
        Finding(message=f"the ignore of {each.id} ended on {each.until}: {each.reason}", file=each.file, line=each.line)
        for each in ignores
        if each.is_over(today)
    )
