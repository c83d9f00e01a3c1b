"""What the engine's log of a container has and ours lacks, after our connection broke while the container ran."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

_WINDOW = 1 << 16
"""Lines of two streams may be in another order there. Only the last bytes of ours are compared line by line."""
_MOST_EARLIER = 1000
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


class BeginningGoneError(Exception):
    """The engine has thrown away the beginning of its log."""


def missed_output(
    path: str, begin: int, pieces: Iterable[tuple[float | None, bytes]]
) -> Iterator[tuple[float | None, bytes]]:
    """Yield the lines that are missing at the end of our log, with their times. It begins at byte `begin` of the file.

    The engine's log is given as `pieces` of whole lines with their times, from the start of the container.
    """
    with open(path, "rb") as log:
        log.seek(begin)
        head = log.read(_WINDOW)
        end = log.seek(0, 2)
        log.seek(max(begin, end - _WINDOW))
        if log.tell() > begin:
            log.readline()
        before = log.tell() - begin
        tail = _LINE.findall(log.read())
    # The connection may have broken within a line.
    partial = tail.pop() if tail and not tail[-1].endswith(b"\n") else b""
    lines = ((at, line) for at, piece in pieces for line in _LINE.findall(piece))
    first = next(lines, None)
    if first is None or (head and first[1] not in head and not (partial and first[1].startswith(partial))):
        raise BeginningGoneError("the engine has not kept its beginning")
    missing = _unread(chain((first,), lines), before, Counter(tail))
    yield from _continued(missing, partial) if partial else missing


def _unread(
    lines: Iterable[tuple[float | None, bytes]], before: int, read: Counter[bytes]
) -> Iterator[tuple[float | None, bytes]]:
    position = 0
    for at, line in lines:
        position += len(line)
        if position <= before:
            continue
        if read[line]:
            read[line] -= 1
        else:
            yield at, line


def _continued(lines: Iterator[tuple[float | None, bytes]], partial: bytes) -> Iterator[tuple[float | None, bytes]]:
    """Yield first the rest of the line that we have a part of. The other stream may have written before its end."""
    earlier = []
    for at, line in islice(lines, _MOST_EARLIER):
        if line.startswith(partial):
            yield at, line[len(partial) :]
            break
        earlier.append((at, line))
    else:
        if earlier:
            yield earlier[0][0], b"\n"
    yield from earlier
    yield from lines
