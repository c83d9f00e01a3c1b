"""`smlocal jobs`: list the jobs that were run here."""

import json
import sys
import time
from typing import TYPE_CHECKING

import click

from smlocal.base.readable import ago
from smlocal.cli.job_argument import AGE_OPTION, STATUS_OPTION, selection_of
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import shortened, table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.terms.statuses import training_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smlocal.api.job_list import ListedJob

_REASON_WIDTH = 40
"""Where there is no terminal."""
_SHRINKABLE = ((2, 8), (0, 8))
"""The reason, then the name."""
_HEAD = ("NAME", "STATUS", "REASON / PHASE", "TRAINED", "WHEN")


@shown_command(
    "jobs",
    examples=(
        ("smlocal jobs", "List the newest jobs."),
        ("smlocal jobs --status Failed --older-than 7d", "List the jobs that failed over a week ago."),
    ),
)
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), default=50, show_default=True, help="Show the newest N jobs."
)
@click.option("--all", "everything", is_flag=True, help="Show all jobs.")
@STATUS_OPTION
@AGE_OPTION
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, with the service's TrainingJobSummaries."
)
@click.option("--watch", "-w", "watched", is_flag=True, help="Show changes until Ctrl-C; needs a terminal.")
def command(
    *, limit: int, everything: bool, statuses: tuple[str, ...], older_than: float | None, as_json: bool, watched: bool
) -> None:
    """List the jobs that were run here, newest first.

    The words ls, list and ps run this command too. With --json, jobs of AI Platform Training are in `jobs`, and custom
    jobs in `customJobs` (smlocal help ai-platform).
    """
    from smlocal.api.job_list import job_documents, list_jobs

    selection = selection_of(statuses, older_than)
    most = None if everything else limit
    if watched:
        if as_json or not sys.stdout.isatty():
            raise click.UsageError("--watch needs a terminal. In a script, use smlocal jobs --json or smlocal wait.")
        from smlocal.cli.views.watched_jobs import watch

        watch(lambda width: _lines(list_jobs(limit=most, selection=selection), width) or ["No jobs yet."])
        return
    jobs = list_jobs(limit=most, selection=selection)
    if as_json:
        click.echo(json_without_commands(json.dumps(job_documents(jobs), indent=2)))
        return
    if not jobs:
        none = "No jobs yet. Start one with smlocal run." if selection is None else "No such jobs."
        click.echo(none, err=True)
        return
    for line in _lines(jobs, width_of(sys.stdout)):
        click.echo(line)


def _lines(jobs: "Sequence[ListedJob]", width: int | None) -> list[str]:
    """The table; nothing without jobs."""
    if not jobs:
        return []
    now = time.time()
    rows = [_HEAD, *(_row(job, now, room=_REASON_WIDTH if width is None else width) for job in jobs)]
    return list(table(rows, width=width, shrinkable=_SHRINKABLE))


def _row(job: "ListedJob", now: float, *, room: int) -> tuple[str, ...]:
    from smlocal.jobs.kinds import showing

    record = job.record
    state, more = showing(record.platform).words(record)
    if record.status.terminal:
        reason = record.failure_reason or more
    else:
        reason = ", ".join(filter(None, (more, "supervisor gone" * job.supervisor_gone)))
    reason = shortened(printable(" ".join(reason.split())), room)
    trained = "" if record.started is None else f"{training_seconds(record.started, record.ended or now)} s"
    return (
        record.name,
        f"{state}, kept" if job.containers_kept else state,
        reason,
        trained,
        "now" if not record.status.terminal else ago(now - record.modified),
    )
