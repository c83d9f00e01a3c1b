"""`smlocal compare`: what differs between two jobs."""

import json
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from smlocal.base.at_use import at_use
from smlocal.cli.job_argument import completed_jobs
from smlocal.cli.job_of_service import service_options
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import row, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.service.service import Service
from smlocal.terms.masking import masked

if TYPE_CHECKING:
    from smlocal.service.compare.differences import Comparison, Difference, Section, compare, comparison_document
    from smlocal.service.compare.find import check_same_kind, find_subject
    from smlocal.service.compare.subject import JobToCompare
else:
    compare = at_use("smlocal.service.compare.differences", "compare")
    comparison_document = at_use("smlocal.service.compare.differences", "comparison_document")
    check_same_kind = at_use("smlocal.service.compare.find", "check_same_kind")
    find_subject = at_use("smlocal.service.compare.find", "find_subject")

_DIFFERS = 1
_MOST = 30
"""Differences of one section that are shown."""
_LONGEST_PATH = 40
_HEAD = 14
_NONE = "none"
_COUNTED = {"environment": "variable", "request": "member", "metrics": "metric", "archives": "file"}
"""What the things of a section are."""


@shown_command(
    "compare",
    examples=(
        ("smlocal compare my-job @last", "Compare a job with the newest one."),
        ("smlocal compare my-job service:my-job", "Compare a job with one of the service."),
    ),
)
@click.argument("a", metavar="A", shell_complete=completed_jobs)
@click.argument("b", metavar="B", shell_complete=completed_jobs)
@click.option("--download", is_flag=True, help="Compare the artifacts of jobs of the service too, from S3.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--allow-local-paths", is_flag=True, help="Read artifacts at any local path that a file names.")
@service_options
def command(
    *,
    a: str,
    b: str,
    profile: str | None,
    region: str | None,
    download: bool,
    allow_local_paths: bool,
    as_json: bool,
) -> int:
    """Show what differs between two jobs.

    A and B are each a job of this machine (NAME), a job of the service (service:NAME), or a saved description or
    request (a path). Exit codes: 0 nothing differs, 1 something differs.
    """

    @cache
    def service() -> "Service":
        return Service(profile=profile, region=region)

    one, other = (
        find_subject(each, service=service, download=download, allow_local_paths=allow_local_paths) for each in (a, b)
    )
    check_same_kind(one, other)
    found = compare(one, other)
    if as_json:
        click.echo(json_without_commands(json.dumps(comparison_document(found), indent=2, default=str)))
    else:
        for line in comparison_lines(found, width=width_of(sys.stdout)):
            click.echo(line)
    return 0 if found.same else _DIFFERS


def comparison_lines(found: "Comparison", *, width: int | None) -> Iterator[str]:
    """The whole screen."""
    yield from _subject("A", found.a, width)
    yield from _subject("B", found.b, width)
    if found.same:
        yield "Nothing differs"
    for section in found.sections:
        if section.differences and not section.measured:
            yield f"Differs: {section.name}"
            yield from _differences(section, width)
    same = [_same(each) for each in found.sections if each.same and not each.differences and not each.measured]
    if same:
        yield from row(f"{'Same':<{_HEAD}}", " · ".join(same), width=width)
    measured = [each for section in found.sections if section.measured for each in section.differences]
    if measured:
        shown = " · ".join(f"{each.path} {_text(each.path, each.a)} → {_text(each.path, each.b)}" for each in measured)
        yield from row(f"{'Measured':<{_HEAD}}", shown, width=width)
    for section in found.sections:
        if section.unknown:
            yield from row(f"{'Not compared':<{_HEAD}}", f"{section.name}: {printable(section.unknown)}", width=width)


def _subject(letter: str, subject: "JobToCompare", width: int | None) -> Iterator[str]:
    status = "a request" if subject.end is None else subject.end.status
    running = " (it has not ended)" if subject.end is not None and not subject.ended else ""
    yield from row(f"{letter}  ", printable(f"{subject.title}   {subject.origin}, {status}{running}"), width=width)


def _same(section: "Section") -> str:
    kind = _COUNTED.get(section.name)
    if kind is None:
        return section.name
    return f"{section.name} ({section.same} {kind}{'s' * (section.same != 1)})"


def _differences(section: "Section", width: int | None) -> Iterator[str]:
    shown = section.differences[:_MOST]
    column = min(_LONGEST_PATH, max(len(each.path) for each in shown))
    for each in shown:
        yield from _difference(each, column, width)
    if len(section.differences) > _MOST:
        yield f"  and {len(section.differences) - _MOST:,} more: --json has all"


def _difference(each: "Difference", column: int, width: int | None) -> Iterator[str]:
    """In one line if there is room."""
    a, b = _text(each.path, each.a), _text(each.path, each.b)
    head = f"  {printable(each.path):<{column}}  "
    line = f"{head}{a} → {b}"
    if "\n" not in line and len(line) <= (width or 120):
        yield line
        return
    yield head.rstrip()
    yield from row("    A  ", a, width=width)
    yield from row("    B  ", b, width=width)


def _text(path: str, value: Any) -> str:
    """A value without secrets."""
    if value is None:
        return _NONE
    if isinstance(value, float):
        return f"{value:.6g}"
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return printable(masked(path.rpartition(".")[2].rpartition("]")[2] or path, text))
