"""Rows of a plan for people, common to all platforms."""

import json
from collections.abc import Iterator

from smlocal.jobs.planning.model import JobPlan, RecordedPlan
from smlocal.terms.masking import masked, masked_request

COLUMN = 13
"""The width of the heads."""
_LINE = 160
_NAMED = 8


def note_rows(plan: RecordedPlan) -> Iterator[tuple[str, str]]:
    """Warnings, and differences from the service."""
    warnings = [note for note in plan.notes if note.warning]
    if warnings:
        yield "Warnings", ""
        yield from (("", f"{note.text}  [{note.id}]") for note in warnings)
    yield "Differences from the service", ""
    yield from (("", f"{note.text}  [{note.id}]") for note in plan.notes if not note.warning)


def host_names(plan: JobPlan) -> str:
    """All of them, of many the first and the last."""
    names = [host.host.name for host in plan.hosts]
    return ", ".join(names) if len(names) <= _NAMED else f"{names[0]} to {names[-1]}"


def request_text(plan: RecordedPlan) -> str:
    """The request in one line, without secrets, shortened if it is long."""
    text = json.dumps(masked_request(plan.request), ensure_ascii=False)
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…\nfull text: smlocal plan --json"


def environment_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The variables of the first host, and those of other hosts that differ."""
    first, *others = plan.hosts
    shown = [("Environment", first.environment)]
    for host in others:
        differing = {n: v for n, v in host.environment.items() if first.environment.get(n) != v}
        head = f"  {host.host.name}"
        shown.append((head if len(head) <= COLUMN else f"{head} ", differing))
    for head, variables in shown:
        for index, (name, value) in enumerate(variables.items()):
            yield head if index == 0 else "", f"{name}={one_line(masked(name, value))}"


def one_line(text: str) -> str:
    """A text of several lines in one."""
    return " ⏎ ".join(text.splitlines())
