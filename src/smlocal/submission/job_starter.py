"""Start jobs from a process that has threads and therefore must not fork."""

import json
import subprocess
import sys
from contextlib import suppress
from select import POLLIN, poll
from threading import Lock
from types import TracebackType
from typing import Self

from smlocal.errors.serving import JobStarterError

_TRIES = 2
"""A starter that was killed is replaced."""
_ANSWERS_SECONDS = 60.0
_ENDS_SECONDS = 5.0


class JobStarter:
    """The owner's end of a starter process, which is started with the first job. Threads may share it."""

    def __init__(self, home: str) -> None:
        """`home`: the jobs are in its store."""
        self._home = home
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The starter process; None before the first job."""
        return None if self._process is None else self._process.pid

    def start(self, name: str) -> str | None:
        """Give an unfinished job a supervisor, in a process of its own; returns why that was not possible.

        It is no error if the job has ended or has a supervisor. `JobStarterError` if no starter can be kept alive.
        """
        with self._lock:
            for _ in range(_TRIES):
                answer = self._ask(self._running(), name)
                if answer:
                    text = answer.strip()
                    return json.loads(text) if text else None
                self._end()
        raise JobStarterError(
            "the process that starts jobs does not answer",
            details=[f"It was to start the job '{name}'."],
            remedy=["What it has written to standard error says why. The job still waits."],
        )

    def warm_up(self) -> None:
        """Start the process now, so that the first job does not wait for its imports."""
        with self._lock:
            self._running()

    def close(self) -> None:
        """End the process. The jobs that it has started go on."""
        with self._lock:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._end()
            # A session of its own: Ctrl-C in the owner's terminal must not end it between two jobs.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "smlocal.submission.starter_process", self._home],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        return self._process

    def _ask(self, process: "subprocess.Popen[bytes]", name: str) -> bytes:
        """The line that it answers; nothing if it has ended or does not answer."""
        if process.stdin is None or process.stdout is None:
            raise AssertionError(process)
        try:
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
        except BrokenPipeError:
            return b""
        answers = poll()  # a server may have too many open files for select()
        answers.register(process.stdout, POLLIN)
        if not answers.poll(_ANSWERS_SECONDS * 1000):
            return b""
        return process.stdout.readline()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        try:
            process.wait(_ENDS_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_ENDS_SECONDS)
