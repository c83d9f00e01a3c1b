"""The logs of a job as they grow."""

import time
from collections.abc import Iterator, Mapping

from smlocal.job.control.orphans import see_to
from smlocal.store.jobs import Store

_PIECE = 1 << 20
_PAUSE = 0.05


def log_pieces(store: Store, name: str, logs: Mapping[str, str], *, follow: bool) -> Iterator[tuple[str, int, bytes]]:
    """The host, where in its log a piece begins, and the piece; an empty one at the end of each host's log.

    `follow` goes on until the job has ended. `logs` has the file of each host. Another file may take its place, which
    has more of the same.
    """
    positions = dict.fromkeys(logs, 0)

    def fresh(host: str) -> Iterator[tuple[str, int, bytes]]:
        try:
            with open(logs[host], "rb", buffering=0) as log:
                log.seek(positions[host])
                while piece := log.read(_PIECE):
                    yield host, positions[host], piece
                    positions[host] += len(piece)
        except FileNotFoundError:
            return

    while follow and not store.get(name).status.terminal:
        see_to(store, name)
        before = sum(positions.values())
        for host in logs:
            yield from fresh(host)
        if sum(positions.values()) == before:
            time.sleep(_PAUSE)
    for host in logs:
        yield from fresh(host)
        yield host, positions[host], b""
