"""`smlocal logs`: what the containers of a job wrote."""

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from smlocal.cli.terminal.standard_streams import output_errors
from smlocal.cli.views.log_lines import LogLines

if TYPE_CHECKING:
    from smlocal.job.logs.log_times import LogTimes

_PIECE = 1 << 20
_PAUSE = 0.05
_MOST_KEPT = 1 << 16
"""Of a line whose end has not come; longer ones of several hosts may be broken up."""


@click.command("logs")
@click.argument("name")
@click.option("--host", metavar="HOST", help="Only this host, e.g. algo-2.")
@click.option("--follow", "-f", is_flag=True, help="Go on until the job has ended.")
@click.option("--timestamps", "-t", is_flag=True, help="When each line came, in UTC.")
@click.option("--raw", is_flag=True, help="The bytes as the containers wrote them, not as the service's log has them.")
def command(*, name: str, host: str | None, follow: bool, timestamps: bool, raw: bool) -> None:
    """Print what the containers of a job wrote.

    All of it, from the start, as the service's log would show it: a TAB is #011.
    """
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
        readers = []
        for each, path in chosen.items():
            times = LogTimes(times_path(path)) if timestamps else None
            mark = f"{each} | ".encode() if len(chosen) > 1 else b""
            readers.append(_Reader(path, mark, LogLines(raw=raw, mark=mark, times=times), times, page))
        while follow and not store.get(name).status.terminal:
            see_to(store, name)
            if not sum(reader.copy() for reader in readers):
                time.sleep(_PAUSE)
        for reader in readers:
            reader.copy()
            reader.finish()


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


class _Reader:
    """One host's log, copied from where the last look ended; it may be replaced by a longer one meanwhile."""

    def __init__(self, path: str, mark: bytes, lines: LogLines, times: "LogTimes | None", page: _Page) -> None:
        self._path = path
        self._mark = mark
        self._lines = lines
        self._times = times
        self._page = page
        self._position = 0
        self._kept = b""

    def copy(self) -> int:
        """Copy what is new, whole lines only where they are marked; returns the number of bytes."""
        copied = 0
        try:
            with open(self._path, "rb", buffering=0) as log:
                if self._times is not None:
                    self._times.renew()
                log.seek(self._position)
                while piece := log.read(_PIECE):
                    self._write(self._lines.feed(piece, self._position))
                    self._position += len(piece)
                    copied += len(piece)
        except FileNotFoundError:
            return 0
        return copied

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
