"""The bytes of a job's logs, while they grow."""

import time
from collections.abc import Iterator, Mapping

from smlocal.job.control.orphans import ensure_supervised
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store

_PIECE = 1 << 20
_PAUSE = 0.05


def log_pieces(
    name: str, logs: Mapping[str, str], *, follow: bool, home: str | None = None
) -> Iterator[tuple[str, int, bytes]]:
    """The host, the position in its log, and the bytes there; no bytes at the end of each host's log.

    `logs` has the file of each host. It may be replaced by a longer one that begins with the same bytes. `follow`
    continues until the job has ended.
    """
    positions = dict.fromkeys(logs, 0)

    def new_pieces(host: str) -> Iterator[tuple[str, int, bytes]]:
        try:
            with open(logs[host], "rb", buffering=0) as log:
                log.seek(positions[host])
                while piece := log.read(_PIECE):
                    yield host, positions[host], piece
                    positions[host] += len(piece)
        except FileNotFoundError:
            return

    if follow:
        with Store.open(home_directory() if home is None else home) as store:
            while not store.get(name).status.terminal:
                ensure_supervised(store, name)
                before = sum(positions.values())
                for host in logs:
                    yield from new_pieces(host)
                if sum(positions.values()) == before:
                    time.sleep(_PAUSE)
    for host in logs:
        yield from new_pieces(host)
        yield host, positions[host], b""
