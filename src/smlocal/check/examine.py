"""Ask rules about an image, one after the other, and note what each says and how long it took."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.ignores import Ignore, expired, unused, with_ignores
from smlocal.check.interface import Finding, Rule, RuleResult
from smlocal.check.subject import Subject

UNUSED = "ignore-unused"
EXPIRED = "ignore-expired"
"""Rules about the ignores themselves, which are judged when all others have been."""


def examine(rules: Iterable[Rule], subject: Subject) -> Iterator[RuleResult]:
    """The result of each rule, as soon as there is one."""
    for rule in rules:
        began = time.monotonic()
        findings: list[Finding] = []
        skipped = ""
        details: tuple[str, ...] = ()
        test = ""
        try:
            findings += rule.check(subject)
        except CannotLookError as error:
            skipped, details, test = str(error), error.details, error.test
        yield RuleResult(
            rule=rule,
            seconds=time.monotonic() - began,
            findings=tuple(findings),
            skipped=skipped,
            skipped_details=details,
            test=test,
        )


def judge(
    results: Iterable[RuleResult],
    ignores: Sequence[Ignore],
    today: date,
    place: Callable[[Finding], Finding] = lambda finding: finding,
) -> tuple[RuleResult, ...]:
    """The results without what is ignored, with what is wrong with the ignores; `place` says where to mend a thing."""
    from dataclasses import replace

    placed = [
        replace(result, findings=tuple(map(place, result.findings))) if result.findings else result
        for result in results
    ]
    left = with_ignores(placed, ignores, today)
    extra = {UNUSED: unused(left, ignores, today), EXPIRED: expired(ignores, today)}
    return tuple(replace(each, findings=extra.get(each.rule.id, each.findings)) for each in left)
