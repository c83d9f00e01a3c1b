"""`smlocal jobs`: what was run here."""

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.terminal.columns import shortened, width_of
from smlocal.cli.terminal.printable import printable

if TYPE_CHECKING:
    from smlocal.store.records import JobRecord

_REASON_WIDTH = 40
_REASON = 2
_GIVE_WAY = ((_REASON, 8), (0, 8))
"""What a narrow terminal takes from: column and the least that is left of it."""
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
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store
    from smlocal.store.lease import supervised

    with Store.open(home_directory()) as store:
        records = store.list(limit=None if everything else limit)
        gone = {
            record.name
            for record in records
            if not record.status.terminal and not supervised(store.directory(record.name))
        }
    if as_json:
        import json

        click.echo(
            json.dumps(
                {"TrainingJobSummaries": [_document(record, gone=record.name in gone) for record in records]}, indent=2
            )
        )
        return
    if not records:
        click.echo("No jobs yet. Start one with smlocal run.", err=True)
        return
    now = time.time()
    rows = [_HEAD, *(_row(record, now, gone=record.name in gone) for record in records)]
    for line in _table(rows, width_of(sys.stdout)):
        click.echo(line)


def _table(rows: list[tuple[str, ...]], width: int | None) -> Iterator[str]:
    """Columns side by side; on a terminal the reason gives way first, then the name, and nothing is wrapped."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    if width is None:
        widths[_REASON] = min(widths[_REASON], _REASON_WIDTH)
    else:
        for column, least in _GIVE_WAY:
            beyond = sum(widths) + len(_GAP) * (len(widths) - 1) - width
            widths[column] = max(min(least, widths[column]), widths[column] - max(0, beyond))
    for row in rows:
        line = _GAP.join(shortened(cell, room).ljust(room) for cell, room in zip(row, widths, strict=True)).rstrip()
        yield line if width is None else shortened(line, width)


def _row(record: "JobRecord", now: float, *, gone: bool) -> tuple[str, ...]:
    if record.status.terminal:
        reason = record.failure_reason or (
            "" if record.secondary_status.value == record.status.value else record.secondary_status
        )
    else:
        reason = f"{record.secondary_status}, supervisor gone" if gone else record.secondary_status
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


def _document(record: "JobRecord", *, gone: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "TrainingJobName": record.name,
        "CreationTime": record.created,
        "TrainingEndTime": record.ended,
        "LastModifiedTime": record.modified,
        "TrainingJobStatus": record.status,
        "SecondaryStatus": record.secondary_status,
        "FailureReason": record.failure_reason,
        "SupervisorGone": gone or None,
    }
    return {name: value for name, value in document.items() if value is not None}
