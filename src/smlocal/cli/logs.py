"""`smlocal logs`: what the containers of a job wrote."""

import os
import sys

import click

_PIECE = 1 << 20


@click.command("logs")
@click.argument("name")
@click.option("--host", metavar="HOST", help="Only this host, e.g. algo-2.")
def command(*, name: str, host: str | None) -> None:
    """Print what the containers of a job wrote, host after host, every byte of it."""
    from smlocal.job.logs import host_logs
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        logs = host_logs(store, name)
    if host is not None and host not in dict(logs):
        raise click.UsageError(f"The job {name} has no host {host}; it has {', '.join(dict(logs)) or 'none'}.")
    chosen = [(each, path) for each, path in logs if host in {None, each}]
    for each, path in chosen:
        _copy(path, f"{each} | ".encode() if len(chosen) > 1 else b"")


def _copy(path: str, mark: bytes) -> None:
    out = sys.stdout.fileno()
    with open(path, "rb", buffering=0) as log:
        if not mark:
            while piece := log.read(_PIECE):
                _write(out, piece)
            return
    with open(path, "rb") as lines:
        for line in lines:
            _write(out, mark + line if line.endswith(b"\n") else mark + line + b"\n")


def _write(out: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]
