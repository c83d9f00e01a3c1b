"""`smlocal jobs`: list the jobs of this machine."""

import json
import sys
import time
from typing import TYPE_CHECKING

import click

from smlocal.base.at_use import at_use
from smlocal.base.readable import ago
from smlocal.cli.job_argument import AGE_OPTION, ENDED, selection_of
from smlocal.cli.request_names import KIND_WORDS
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import NO_COLOURS, has_colours, shortened, status_colour, table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.terms.statuses import training_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from smlocal.api.job_list import ListedJob, ToldJob, job_documents, list_jobs, told_of, with_leaders
    from smlocal.cli.views.summary import last_words
    from smlocal.cli.views.watched_jobs import watch
    from smlocal.jobs.kinds import showing
else:
    job_documents = at_use("smlocal.api.job_list", "job_documents")
    list_jobs = at_use("smlocal.api.job_list", "list_jobs")
    told_of = at_use("smlocal.api.job_list", "told_of")
    with_leaders = at_use("smlocal.api.job_list", "with_leaders")
    watch = at_use("smlocal.cli.views.watched_jobs", "watch")
    showing = at_use("smlocal.jobs.kinds", "showing")
    last_words = at_use("smlocal.cli.views.summary", "last_words")

_REASON_WIDTH = 80
"""Where there is no terminal."""
_SHRINKABLE = ((3, 8), (0, 8))
"""Columns: the result or reason, then the name."""
_STATUS, _REASON, _RAN = 2, 3, 4
_USUAL = "AlgorithmError: "
_HEAD = ("NAME", "KIND", "STATUS", "RESULT / REASON", "RAN", "WHEN")
_BELOW = "  "
"""Indents the jobs of a search."""


_STATUS_OPTION = click.option(
    "--status",
    "statuses",
    type=click.Choice((*ENDED, "Running", "Waiting"), case_sensitive=False),
    multiple=True,
    help="Show only jobs with this status; repeatable.",
)
_KIND_OPTION = click.option(
    "--kind",
    "kinds",
    type=click.Choice((*KIND_WORDS, "replicas"), case_sensitive=False),
    multiple=True,
    help="Show only jobs of this kind; repeatable.",
)


@shown_command(
    "jobs",
    examples=(
        ("smlocal jobs", "List the newest jobs."),
        ("smlocal jobs --status Failed --older-than 7d", "List the jobs that failed over a week ago."),
        ("smlocal jobs --kind endpoint --kind tuning --status Running", "List running endpoints and searches."),
    ),
)
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), default=50, show_default=True, help="Show the newest N jobs."
)
@click.option("--all", "everything", is_flag=True, help="Show all jobs.")
@_STATUS_OPTION
@_KIND_OPTION
@AGE_OPTION
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, with the service's TrainingJobSummaries."
)
@click.option("--watch", "-w", "watched", is_flag=True, help="Show changes until Ctrl-C; needs a terminal.")
def command(
    *,
    limit: int,
    everything: bool,
    statuses: tuple[str, ...],
    kinds: tuple[str, ...],
    older_than: float | None,
    as_json: bool,
    watched: bool,
) -> None:
    """List the jobs of this machine, newest first. The jobs of a search or a pipeline are below it.

    Other names of this command: ls, list, ps. With --json, jobs of AI Platform Training are in `jobs`, and custom
    jobs in `customJobs` (smlocal help ai-platform).
    """
    selection = selection_of(statuses, older_than, kinds)
    most, together = None if everything else limit, selection is None
    if watched:
        if as_json or not sys.stdout.isatty():
            raise click.UsageError("--watch needs a terminal. In a script, use smlocal jobs --json or smlocal wait.")
        watch(
            lambda width: (
                _lines(list_jobs(limit=most, selection=selection), width, together=together) or ["No jobs yet."]
            )
        )
        return
    jobs = list_jobs(limit=most, selection=selection)
    if as_json:
        click.echo(json_without_commands(json.dumps(job_documents(jobs), indent=2)))
        return
    if not jobs:
        none = "No jobs yet. Start one with smlocal run." if selection is None else "No such jobs."
        click.echo(none, err=True)
        return
    for line in _lines(jobs, width_of(sys.stdout), together=together):
        click.echo(line, color=has_colours(sys.stdout))


def _lines(jobs: "Sequence[ListedJob]", width: int | None, *, together: bool) -> list[str]:
    """The table; nothing without jobs. `together`: with the searches and pipelines that made some of them."""
    if not jobs:
        return []
    jobs = with_leaders(jobs) if together else jobs
    now, told = time.time(), told_of(jobs)
    room = _REASON_WIDTH if width is None else width
    rows = [_HEAD, *(_row(job, told, now, room=room, deep=deep) for job, deep in _with_led(jobs, told))]
    colours = {_STATUS: status_colour} if has_colours(sys.stdout) else NO_COLOURS
    if width is not None and any(len(line) > width for line in table(rows, width=None)):
        # Too wide: drop the column RAN, and the usual beginning of reasons. describe shows both.
        rows = [(*row[:_REASON], row[_REASON].replace(_USUAL, "", 1), *row[_RAN + 1 :]) for row in rows]
    return list(table(rows, width=width, shrinkable=_SHRINKABLE, colours=colours))


def _with_led(jobs: "Sequence[ListedJob]", told: "Mapping[str, ToldJob]") -> "Iterator[tuple[ListedJob, int]]":
    """The jobs in the order of the list, each with the number of searches and executions that it is below."""
    led: dict[str, list[ListedJob]] = {}
    for job in jobs:
        led.setdefault(told[job.record.name].leader, []).append(job)
    waiting = [(job, 0) for job in reversed(led.get("", ()))]
    while waiting:
        job, deep = waiting.pop()
        yield job, deep
        waiting += [(each, deep + 1) for each in reversed(led.get(job.record.name, ()))]


def _row(job: "ListedJob", told: "Mapping[str, ToldJob]", now: float, *, room: int, deep: int) -> tuple[str, ...]:
    record = job.record
    about = told[record.name]
    state, more = showing(record.platform).words(record)
    said = _cause(job, about) if record.failure_reason else ", ".join(filter(None, (more, about.outcome)))
    if job.supervisor_gone:
        said = ", ".join(filter(None, (said, "supervisor gone")))
    ran = "" if record.started is None else f"{training_seconds(record.started, record.ended or now)} s"
    return (
        f"{_BELOW * deep}{record.name}",
        about.kind,
        f"{state}, kept" if job.containers_kept else state,
        shortened(printable(" ".join(said.split())), room),
        ran,
        "now" if not record.status.terminal else ago(now - record.modified),
    )


def _cause(job: "ListedJob", told: "ToldJob") -> str:
    """Why it failed, if necessary from the last line of the log."""
    if told.cause:
        return told.cause
    return last_words(told.local, job.record.failure_reason or "")
