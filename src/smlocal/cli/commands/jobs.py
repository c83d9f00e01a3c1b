"""`smlocal jobs`: list the jobs that were run here."""

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.terminal.columns import shortened, width_of
from smlocal.cli.terminal.printable import printable

if TYPE_CHECKING:
    from smlocal.api.job_list import ListedJob

_REASON_WIDTH = 40
_REASON = 2
_SHRINKING = ((_REASON, 8), (0, 8))
"""The columns that become narrower on a narrow terminal, and their least width."""
_GAP = "   "
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_HEAD = ("NAME", "STATUS", "REASON / PHASE", "TRAINED", "WHEN")


@click.command("jobs")
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), default=50, show_default=True, help="Show the newest N jobs."
)
@click.option("--all", "everything", is_flag=True, help="Show all jobs.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, with the service's TrainingJobSummaries."
)
def command(*, limit: int, everything: bool, as_json: bool) -> None:
    """List the jobs that were run here, newest first."""
    from smlocal.api.job_list import list_jobs

    jobs = list_jobs(limit=None if everything else limit)
    if as_json:
        import json

        click.echo(json.dumps({"TrainingJobSummaries": [_document(job) for job in jobs]}, indent=2))
        return
    if not jobs:
        click.echo("No jobs yet. Start one with smlocal run.", err=True)
        return
    now = time.time()
    rows = [_HEAD, *(_row(job, now) for job in jobs)]
    for line in _table(rows, width_of(sys.stdout)):
        click.echo(line)


def _table(rows: list[tuple[str, ...]], width: int | None) -> Iterator[str]:
    """Lines of columns. On a narrow terminal first the reason is shortened, then the name; nothing is wrapped."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    if width is None:
        widths[_REASON] = min(widths[_REASON], _REASON_WIDTH)
    else:
        for column, least in _SHRINKING:
            beyond = sum(widths) + len(_GAP) * (len(widths) - 1) - width
            widths[column] = max(min(least, widths[column]), widths[column] - max(0, beyond))
    for row in rows:
        line = _GAP.join(shortened(cell, room).ljust(room) for cell, room in zip(row, widths, strict=True)).rstrip()
        yield line if width is None else shortened(line, width)


def _row(job: "ListedJob", now: float) -> tuple[str, ...]:
    record = job.record
    if record.status.terminal:
        reason = record.failure_reason or (
            "" if record.secondary_status.value == record.status.value else record.secondary_status
        )
    else:
        reason = f"{record.secondary_status}, supervisor gone" if job.supervisor_gone else record.secondary_status
    reason = printable(" ".join(reason.split()))
    # Whole seconds and at least one, as TrainingTimeInSeconds counts.
    trained = "" if record.started is None else f"{max(1, int((record.ended or now) - record.started))} s"
    return (
        record.name,
        record.status,
        reason,
        trained,
        "now" if not record.status.terminal else _ago(now - record.modified),
    )


def _ago(seconds: float) -> str:
    if seconds < _MINUTE:
        return "just now"
    for size, unit in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    raise AssertionError


def _document(job: "ListedJob") -> dict[str, Any]:
    record = job.record
    document: dict[str, Any] = {
        "TrainingJobName": record.name,
        "CreationTime": record.created,
        "TrainingEndTime": record.ended,
        "LastModifiedTime": record.modified,
        "TrainingJobStatus": record.status,
        "SecondaryStatus": record.secondary_status,
        "FailureReason": record.failure_reason,
        "SupervisorGone": job.supervisor_gone or None,
    }
    return {name: value for name, value in document.items() if value is not None}
