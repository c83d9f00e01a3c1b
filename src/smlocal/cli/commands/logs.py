"""`smlocal logs`: print the logs of a job's containers."""

import os
import sys
from collections.abc import Callable
from functools import partial

import click

from smlocal.api.logs import log_pieces
from smlocal.cli.ci_messages import chosen_service
from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.screen_options import LINE_OPTIONS
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import has_colours
from smlocal.cli.terminal.pager import paged
from smlocal.cli.terminal.printable import chosen_changes
from smlocal.cli.terminal.standard_streams import output_errors
from smlocal.cli.views.log_lines import LogLines, host_prefix
from smlocal.jobs.logs.log_file import times_path
from smlocal.jobs.logs.log_readers import LogTimes

_MOST_NAMED = 10
_MAX_KEPT = 1 << 16
"""Bytes of a line that has no end yet. Longer lines of several hosts may be mixed."""


@shown_command(
    "logs",
    examples=(
        ("smlocal logs @last", "Print the log of the newest job."),
        ("smlocal logs my-job --follow", "Follow the log until the job ends."),
        ("smlocal logs my-job --host algo-1 --timestamps", "Print the log of one host, with times."),
    ),
)
@job_argument
@click.option("--host", metavar="HOST", help="Show only this host, such as 2, algo-2 or workerpool1-0.")
@click.option("--follow", "-f", is_flag=True, help="Follow the log until the job ends.")
@click.option(
    "--tail", "-n", "last", type=click.IntRange(min=0), metavar="N", help="Begin with the last N lines of each host."
)
@LINE_OPTIONS[0]
@LINE_OPTIONS[1]
@LINE_OPTIONS[2]
@click.option("--raw", is_flag=True, help="Print the bytes exactly as the containers wrote them.")
@click.option("--no-pager", is_flag=True, help="Do not show long output in a pager.")
def command(
    *,
    name: str,
    host: str | None,
    follow: bool,
    last: int | None,
    timestamps: bool,
    no_log_prefix: bool,
    safe_output: bool,
    raw: bool,
    no_pager: bool,
) -> None:
    """Print the logs of a job's containers.

    Prints the log as CloudWatch shows it (a tab is #011). The job of a step of a pipeline: EXECUTION/STEP.
    """
    job = job_named(name)
    logs = job.log_files
    if not logs and (no_log := job.spoken.no_log):
        _say_where(name, no_log)
        return
    chosen = logs
    if host is not None:
        only = job.host_named(host)
        chosen = {only: logs[only]}
    coloured = has_colours(sys.stdout)
    # What a raw log is for is the bytes as they were.
    changes = chosen_changes(safe=safe_output, in_ci=chosen_service(None) is not None and not raw, descriptor=1)
    with paged(wanted=not (no_pager or follow)) as kept:
        page = _Page(several=len(chosen) > 1, write=_write_kept if kept else _write_at_once)
        printers = {}
        for each, path in chosen.items():
            times = LogTimes(times_path(path)) if timestamps else None
            prefix = host_prefix(each, coloured=coloured) if len(chosen) > 1 and not no_log_prefix else b""
            printers[each] = _Printer(
                LogLines(raw=raw, prefix=prefix, times=times), times, page, partial(changes.apply, each, 1)
            )
        for each, position, piece in log_pieces(name, chosen, follow=follow, last=last):
            if piece:
                printers[each].write(piece, position)
            else:
                printers[each].finish()


def _say_where(name: str, no_log: str) -> None:
    """Name the jobs with logs, for a search."""
    from smlocal.api.job_list import jobs_led_by

    led = jobs_led_by(name)
    click.echo(f"{name} {no_log}", err=True)
    for each, called in led[:_MOST_NAMED]:
        click.echo(f"  smlocal logs {called}   {each.status}", err=True)
    if len(led) > _MOST_NAMED:
        click.echo(f"  and {len(led) - _MOST_NAMED:,} more: smlocal jobs", err=True)


def _write_at_once(data: bytes) -> None:
    view = memoryview(data)
    with output_errors():
        while view:
            view = view[os.write(sys.stdout.fileno(), view) :]


def _write_kept(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


class _Page:
    """The output for all hosts. A line of one host ends before a line of another begins."""

    def __init__(self, *, several: bool, write: Callable[[bytes], None]) -> None:
        self.several = several
        self._write = write
        self._writer: object = None
        """The host printer whose line has no end yet."""

    def write(self, writer: object, data: bytes) -> None:
        if self.several:
            if self._writer not in {None, writer}:
                data = b"\n" + data
            self._writer = None if data.endswith(b"\n") else writer
        self._write(data)


class _Printer:
    """Prints one host's log."""

    def __init__(
        self, lines: LogLines, times: "LogTimes | None", page: _Page, change: Callable[[bytes], bytes]
    ) -> None:
        self._change = change
        self._lines = lines
        self._times = times
        self._page = page
        self._kept = b""

    def write(self, piece: bytes, position: int) -> None:
        """Print these bytes of the log, which are at `position`. Of several hosts only whole lines are printed."""
        if self._times is not None:
            self._times.renew()  # the times of bytes are written before the bytes
        self._write(self._lines.feed(piece, position))

    def finish(self) -> None:
        """Print a last line that has no end."""
        self._print(self._kept + self._lines.end())

    def _write(self, data: bytes) -> None:
        if self._page.several:
            whole, newline, self._kept = (self._kept + data).rpartition(b"\n")
            data = whole + newline
            if len(self._kept) > _MAX_KEPT:
                data, self._kept = data + self._kept, b""
        self._print(data)

    def _print(self, data: bytes) -> None:
        if data:
            self._page.write(self, self._change(data))
