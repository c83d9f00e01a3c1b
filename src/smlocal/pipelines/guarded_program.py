"""A program of the user's that runs beside an execution: with limits, and gone when it has ended or the leader has.

Between the two is a process of ours (`program_guard`), which notices the end of the leader.
"""

import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import field
from enum import Enum
from select import POLLIN, poll
from typing import Final, Self

from smlocal.base.quick_dataclass import dataclass

_GUARD: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program_guard.py")
_LOOK_SECONDS: Final = 0.1
"""So often is the caller asked whether the program is to be stopped."""
_CLEAR_SECONDS: Final = 20.0
"""So long may the guard take to kill the program; it has a shorter limit itself."""
_CHUNK: Final = 1 << 16
_MOST_LEFT: Final = 1 << 22
"""Of what a killed program has left in its pipes: more comes from a process that could not be found."""
FIRST_OF_LOG: Final = 8 << 20
LAST_OF_LOG: Final = 1 << 20
_SHOWN: Final = 4_096
"""Bytes of the log's end."""


class Why(Enum):
    """Why a program has ended."""

    ITSELF = "itself"
    NOT_STARTED = "not started"
    TOO_LATE = "too late"
    STOPPED = "stopped"
    """It was asked to end."""
    KILLED = "killed"
    """The caller wanted it gone at once."""
    ANSWER_TOO_LONG = "answer too long"
    LOST = "lost"
    """The guard was killed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """What is run, and how long."""

    words: tuple[str, ...]
    folder: str
    """Its current one."""
    given: bytes = field(repr=False)
    """Its standard input."""
    log: str
    """The file that gets its standard errors: the first `FIRST_OF_LOG` bytes, and the last ones when it has ended."""
    seconds: float
    grace: float
    """Seconds between SIGTERM and SIGKILL when it is stopped."""
    most: int
    """Bytes of its standard output."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Besides those of this process."""
    stops: bool
    """False if it is awaited when the execution is stopped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramEnd:
    """How it ended."""

    why: Why
    code: int | None = None
    """Its exit code, negative for a signal."""
    output: bytes = field(default=b"", repr=False)
    trouble: str = ""
    """Why it was not started."""
    last_lines: str = ""
    """Of its log."""


def run_program(program: Program, *, stopped: Callable[[], bool], killed: Callable[[], bool]) -> ProgramEnd:
    """Run it to its end. Only what it has put into a session of its own is left then."""
    log = _Log(program.log)
    try:
        with _Running(program, log) as running:
            running.wait(stopped, killed)
            end = running.end()
    except OSError as error:
        end = ProgramEnd(why=Why.NOT_STARTED, trouble=error.strerror or str(error))
    finally:
        last_lines = log.close()
    return ProgramEnd(why=end.why, code=end.code, output=end.output, trouble=end.trouble, last_lines=last_lines)


class _Log:
    """The beginning of an output in a file, and its end, which is added when it is over."""

    def __init__(self, path: str) -> None:
        self._written = self._left_out = 0
        self._last = bytearray()
        self._file = None
        with suppress(OSError):  # a full disk: the program goes on
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - closed in `close`

    def write(self, data: bytes) -> None:
        """Add output."""
        space = FIRST_OF_LOG - self._written
        if space > 0:
            self._put(data[:space])
            self._written += min(space, len(data))
        self._last += data
        self._left_out += max(0, len(data) - max(0, space))
        if len(self._last) > 2 * LAST_OF_LOG:
            del self._last[:-LAST_OF_LOG]

    def close(self) -> str:
        """Write the end; returns the last lines of it."""
        del self._last[:-LAST_OF_LOG]
        if self._left_out:
            kept = min(self._left_out, len(self._last))
            if self._left_out > kept:
                self._put(f"\n[smlocal: {self._left_out - kept:,} bytes are left out here]\n".encode())
            self._put(self._last[-kept:])
        if self._file is not None:
            self._file.close()
        shown = self._last[-_SHOWN:].decode(errors="replace")
        return shown if len(self._last) <= _SHOWN else shown.partition("\n")[2] or shown

    def _put(self, data: bytes | bytearray) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.write(data)


class _Running:
    """The program and its guard."""

    def __init__(self, program: Program, log: _Log) -> None:
        self._program, self._log = program, log
        self._output = bytearray()
        self._said = b""
        self._why: Why | None = None
        self._killed_at: float | None = None
        self._term_at: float | None = None
        self._opened = ExitStack()
        try:
            self._start()
        except BaseException:
            self._opened.close()
            raise

    def _start(self) -> None:
        with ExitStack() as of_the_guard:
            given = of_the_guard.enter_context(tempfile.TemporaryFile())
            given.write(self._program.given)
            given.seek(0)
            lifeline, self._lifeline = self._pipe(of_the_guard, reads=False)
            self._status, status = self._pipe(of_the_guard, reads=True)
            self._answers, answers = self._pipe(of_the_guard, reads=True)
            self._errors, errors = self._pipe(of_the_guard, reads=True)
            # -I, -S: neither the user's settings nor their packages are for the guard, which is to begin at once.
            command = [sys.executable, "-I", "-S", _GUARD, str(lifeline), str(status), self._program.folder]
            self._guard = subprocess.Popen(
                [*command, *self._program.words],
                stdin=given,
                stdout=answers,
                stderr=errors,
                pass_fds=(lifeline, status),
                env={**os.environ, **self._program.variables},
                start_new_session=True,  # Ctrl-C is for smlocal
            )
        self._began = time.monotonic()

    def _pipe(self, of_the_guard: ExitStack, *, reads: bool) -> tuple[int, int]:
        """Both ends of a pipe. This process keeps one of them; `reads`: the end for reading."""
        ends = os.pipe()
        mine, other = ends if reads else ends[::-1]
        self._opened.callback(os.close, mine)
        of_the_guard.callback(os.close, other)
        return ends

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Also after an exception: the end of the lifeline kills the program."""
        self._opened.close()
        try:
            self._guard.wait(_CLEAR_SECONDS)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()

    def wait(self, stopped: Callable[[], bool], killed: Callable[[], bool]) -> None:
        """Until the guard has ended, which is when the processes of the program have."""
        takes = {self._status: self._take_status, self._answers: self._take_answer, self._errors: self._log.write}
        events = poll()
        for pipe in takes:
            events.register(pipe, POLLIN)
        look_at = 0.0
        while self._status in takes:
            now = time.monotonic()
            if now >= look_at:
                look_at = now + _LOOK_SECONDS
                self._look(now, stopped, killed)
                if self._killed_at is not None and now > self._killed_at + _CLEAR_SECONDS:
                    break
            for pipe, _ in events.poll(math.ceil(max(0.0, self._next(look_at) - time.monotonic()) * 1000)):
                data = os.read(pipe, _CHUNK)
                if data:
                    takes[pipe](data)
                else:
                    events.unregister(pipe)
                    del takes[pipe]
        for pipe, take in takes.items():
            _drain(pipe, take)
        if not self._words("ended") and not self._words("failed"):
            self._lost()

    def end(self) -> ProgramEnd:
        """Once it has ended."""
        code, trouble = self._words("ended"), self._words("failed")
        if self._why is None and trouble:
            return ProgramEnd(why=Why.NOT_STARTED, trouble=trouble)
        return ProgramEnd(why=self._why or Why.ITSELF, code=int(code) if code else None, output=bytes(self._output))

    def _look(self, now: float, stopped: Callable[[], bool], killed: Callable[[], bool]) -> None:
        if self._killed_at is not None:
            return
        if killed():
            self._kill(Why.KILLED)
        elif now >= self._began + self._program.seconds:
            self._kill(Why.TOO_LATE)
        elif self._term_at is not None:
            if now >= self._term_at + self._program.grace:
                self._kill(Why.STOPPED)
        elif self._program.stops and stopped():
            self._term_at, self._why = now, Why.STOPPED
            with suppress(OSError):  # the guard has ended
                os.write(self._lifeline, b"t")

    def _next(self, look_at: float) -> float:
        """When there is something to do, if nothing happens."""
        return min(look_at, self._began + self._program.seconds) if self._killed_at is None else look_at

    def _kill(self, why: Why) -> None:
        self._why = self._why or why
        self._killed_at = time.monotonic()
        os.dup2(self._status, self._lifeline, inheritable=False)  # closes it, and keeps its number for `close`

    def _take_status(self, data: bytes) -> None:
        self._said += data

    def _take_answer(self, data: bytes) -> None:
        if self._killed_at is None and len(self._output) + len(data) > self._program.most:
            self._kill(Why.ANSWER_TOO_LONG)
        if self._killed_at is None:
            self._output += data

    def _words(self, name: str) -> str:
        """What the guard has said after this word."""
        lines = self._said.decode(errors="replace").splitlines()
        return next((line.partition(" ")[2] for line in lines if line.startswith(f"{name} ")), "")

    def _lost(self) -> None:
        """The guard is gone, or stuck, and the program may not be."""
        self._why = self._why or Why.LOST
        if main := self._words("began"):
            with suppress(OSError):
                os.killpg(int(main), signal.SIGKILL)


def _drain(pipe: int, take: Callable[[bytes], None]) -> None:
    """Take what is left in a pipe, without waiting for more."""
    os.set_blocking(pipe, False)
    left = _MOST_LEFT
    with suppress(BlockingIOError):
        while left > 0 and (data := os.read(pipe, _CHUNK)):
            take(data)
            left -= len(data)
