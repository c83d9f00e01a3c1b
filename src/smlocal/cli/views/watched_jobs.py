"""`smlocal jobs --watch`: a table on the whole terminal, drawn again when a job changes."""

import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.cli.terminal.process_terminal import size_changes
from smlocal.cli.terminal.standard_streams import output_errors

_SECONDS = 1.0
_BEGIN = b"\033[?1049h\033[?25l"
"""To the other page of the terminal, without a cursor."""
_END = b"\033[?25h\033[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_PAGE = "\033[H", "\033[K", "\033[J"


def watch(lines: Callable[[int], Sequence[str]]) -> None:
    """Show `lines(columns)` until Ctrl-C. The last table stays on the terminal."""
    out = sys.stdout.fileno()
    shown: Sequence[str] = ()
    try:
        with ended_by_signals(), size_changes() as changes, _page(out):
            drawn = b""
            while True:
                columns, rows = os.get_terminal_size(out)
                shown = lines(columns)
                frame = _frame(shown, rows)
                if frame != drawn:  # text of a terminal that is written to again and again is hard to select
                    _write(out, frame)
                    drawn = frame
                if select.select([changes], [], [], _SECONDS)[0]:
                    changes.recv(4096)
                    drawn = b""
    except KeyboardInterrupt:
        _write(out, "".join(f"{line}\n" for line in shown).encode())


def _frame(lines: Sequence[str], rows: int) -> bytes:
    """One page, in one write: each line replaces the one that was there, so nothing flickers."""
    fitting = lines if len(lines) < rows else [*lines[: rows - 2], f"… and {len(lines) - rows + 2} more"]
    page = "\r\n".join(f"{line}{_REST_OF_LINE}" for line in fitting)
    return f"{_HOME}{page}{_REST_OF_PAGE}".encode()


@contextmanager
def _page(out: int) -> Iterator[None]:
    _write(out, _BEGIN)
    try:
        yield
    finally:
        _write(out, _END)


def _write(out: int, data: bytes) -> None:
    view = memoryview(data)
    with output_errors():
        while view:
            view = view[os.write(out, view) :]
