"""The logs of a job, while they grow: as pieces of bytes, and as lines of text."""

import os
import time
from collections.abc import Iterator, Mapping

from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.terms.log_view import LogView

_PIECE = 1 << 20
_PAUSE = 0.05


def log_lines(name: str, logs: Mapping[str, str], *, follow: bool, raw: bool, home: str) -> Iterator[str]:
    """Lines without their ends, with the host in front if there are several."""
    views = {host: LogView() for host in logs}
    rests = dict.fromkeys(logs, b"")
    prefixes = {host: f"{host} | " if len(logs) > 1 else "" for host in logs}
    for host, _, piece in log_pieces(name, logs, follow=follow, home=home):
        shown = piece if raw else views[host].feed(piece, last=not piece)
        *whole, rests[host] = (rests[host] + shown).split(b"\n")
        yield from (prefixes[host] + line.decode(errors="replace") for line in whole)
        if not piece and rests[host]:
            yield prefixes[host] + rests[host].decode(errors="replace")


def log_pieces(
    name: str, logs: Mapping[str, str], *, follow: bool, home: str | None = None, last: int | None = None
) -> Iterator[tuple[str, int, bytes]]:
    """The host, the position in its log, and the bytes there; no bytes at the end of each host's log.

    `logs` has the file of each host. It may be replaced by a longer one that begins with the same bytes. `follow`
    continues until the job has ended. `last`: of each log only so many lines, and what is written after them.
    """
    positions = {host: 0 if last is None else _begin_of_last(path, last) for host, path in logs.items()}

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


def _begin_of_last(path: str, lines: int) -> int:
    """Where the last lines of a file begin; its end for none. A last line without an end counts."""
    try:
        with open(path, "rb", buffering=0) as log:
            end = at = log.seek(0, os.SEEK_END)
            if not lines:
                return end
            missing = lines
            while at > 0:
                start = max(0, at - _PIECE)
                log.seek(start)
                piece = log.read(at - start)
                # The last character of the file ends the last line, and begins no other.
                found = len(piece) - (1 if at == end and piece.endswith(b"\n") else 0)
                while (found := piece.rfind(b"\n", 0, found)) >= 0:
                    missing -= 1
                    if missing <= 0:
                        return start + found + 1
                at = start
    except FileNotFoundError:
        pass
    return 0
