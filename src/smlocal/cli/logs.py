"""`smlocal logs`: what the containers of a job wrote."""

import os
import sys
import time

import click

_PIECE = 1 << 20
_PAUSE = 0.05


@click.command("logs")
@click.argument("name")
@click.option("--host", metavar="HOST", help="Only this host, e.g. algo-2.")
@click.option("--follow", "-f", is_flag=True, help="Go on until the job has ended.")
def command(*, name: str, host: str | None, follow: bool) -> None:
    """Print what the containers of a job wrote.

    Every byte of it, from the start.
    """
    from smlocal.job.logs import host_logs
    from smlocal.job.orphans import see_to
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        see_to(store, name)
        hosts = [each for each, _ in host_logs(store, name)]
        if host is not None and host not in hosts:
            raise click.UsageError(f"The job {name} has no host {host}; it has {', '.join(hosts)}.")
        chosen = {each: path for each, path in host_logs(store, name) if host in {None, each}}
        readers = {each: _Reader(path, _mark(each, len(chosen))) for each, path in chosen.items()}
        while follow and not store.get(name).status.terminal:
            see_to(store, name)
            if not sum(reader.copy() for reader in readers.values()):
                time.sleep(_PAUSE)
        for reader in readers.values():
            reader.copy()
            reader.finish()


def _mark(host: str, hosts: int) -> bytes:
    return f"{host} | ".encode() if hosts > 1 else b""


class _Reader:
    """One host's log, copied from where the last look ended; it may be replaced by a longer one meanwhile."""

    def __init__(self, path: str, mark: bytes) -> None:
        self._path = path
        self._mark = mark
        self._position = 0
        self._partial = b""

    def copy(self) -> int:
        """Copy what is new, whole lines only where they are marked; returns the number of bytes."""
        copied = 0
        try:
            with open(self._path, "rb", buffering=0) as log:
                log.seek(self._position)
                while piece := log.read(_PIECE):
                    self._position += len(piece)
                    copied += len(piece)
                    self._write(piece)
        except FileNotFoundError:
            return 0
        return copied

    def finish(self) -> None:
        """Print a last line that has no end."""
        if self._partial:
            _write(self._mark + self._partial + b"\n")

    def _write(self, piece: bytes) -> None:
        if not self._mark:
            _write(piece)
            return
        whole, newline, self._partial = (self._partial + piece).rpartition(b"\n")
        if newline:
            _write(self._mark + whole.replace(b"\n", b"\n" + self._mark) + b"\n")


def _write(data: bytes) -> None:
    out = sys.stdout.fileno()
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]
