"""`smlocal logs`: what the containers of a job wrote."""

import os
import sys
from typing import TYPE_CHECKING

import click

from smlocal.cli.terminal.standard_streams import output_errors
from smlocal.cli.views.log_lines import LogLines

if TYPE_CHECKING:
    from smlocal.job.logs.log_times import LogTimes

_MOST_KEPT = 1 << 16
"""Of a line whose end has not come; longer ones of several hosts may be broken up."""


@click.command("logs")
@click.argument("name")
@click.option("--host", metavar="HOST", help="Show only this host, e.g. algo-2.")
@click.option("--follow", "-f", is_flag=True, help="Follow the log until the job ends.")
@click.option("--timestamps", "-t", is_flag=True, help="Show the time of each line, in UTC.")
@click.option("--raw", is_flag=True, help="Print the bytes exactly as the containers wrote them.")
def command(*, name: str, host: str | None, follow: bool, timestamps: bool, raw: bool) -> None:
    """Print the logs of a job's containers.

    Prints the whole log as the service's log would show it: a TAB is #011.
    """
    from smlocal.api.log_pieces import log_pieces
    from smlocal.job.control.orphans import see_to
    from smlocal.job.logs.job_logs import host_logs
    from smlocal.job.logs.log_times import LogTimes, times_path
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        see_to(store, name)
        hosts = [each for each, _ in host_logs(store, name)]
        if host is not None and host not in hosts:
            raise click.UsageError(f"The job {name} has no host {host}; it has {', '.join(hosts)}.")
        chosen = {each: path for each, path in host_logs(store, name) if host in {None, each}}
        page = _Page()
        printers = {}
        for each, path in chosen.items():
            times = LogTimes(times_path(path)) if timestamps else None
            mark = f"{each} | ".encode() if len(chosen) > 1 else b""
            printers[each] = _Printer(mark, LogLines(raw=raw, mark=mark, times=times), times, page)
        for each, position, piece in log_pieces(store, name, chosen, follow=follow):
            if piece:
                printers[each].write(piece, position)
            else:
                printers[each].finish()


class _Page:
    """Where all hosts print: the line of one ends before that of another begins."""

    def __init__(self) -> None:
        self._writer: object = None
        """Whose line has no end yet."""

    def write(self, writer: object, data: bytes, mark: bytes) -> None:
        if mark:
            if self._writer not in {None, writer}:
                data = b"\n" + data
            self._writer = None if data.endswith(b"\n") else writer
        out = sys.stdout.fileno()
        view = memoryview(data)
        with output_errors():
            while view:
                view = view[os.write(out, view) :]


class _Printer:
    """Prints one host's log."""

    def __init__(self, mark: bytes, lines: LogLines, times: "LogTimes | None", page: _Page) -> None:
        self._mark = mark
        self._lines = lines
        self._times = times
        self._page = page
        self._kept = b""

    def write(self, piece: bytes, position: int) -> None:
        """Print what stands at `position` of the log, whole lines only where they are marked."""
        if self._times is not None:
            self._times.renew()  # the time of a byte is written before the byte
        self._write(self._lines.feed(piece, position))

    def finish(self) -> None:
        """Print what was kept of a last line that has no end."""
        self._print(self._kept + self._lines.end())

    def _write(self, data: bytes) -> None:
        if self._mark:
            whole, newline, self._kept = (self._kept + data).rpartition(b"\n")
            data = whole + newline
            if len(self._kept) > _MOST_KEPT:
                data, self._kept = data + self._kept, b""
        self._print(data)

    def _print(self, data: bytes) -> None:
        if data:
            self._page.write(self, data, self._mark)
