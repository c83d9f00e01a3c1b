"""Record jobs that wait, and start them, first come first served, as long as instances are free.

A process that has threads, such as a server, must not fork: `JobStarter` is its end of the one that does
(`starter_process`).
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from select import POLLIN, poll
from threading import Lock
from types import TracebackType
from typing import Any, Self

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors.of_commands import JobStarterError
from smlocal.jobs.control.orphans import orphans
from smlocal.jobs.documents import JOB, QUEUE, REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.limit_exceeded import limit_exceeded


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLimit:
    """The limit for all jobs of one home together, whatever their instance types."""

    instances: int
    refuse: bool = False
    """True to refuse every job that would be above the limit now, as the service does. Otherwise jobs wait."""

    def check(self, *, instance_type: str, asked: int, used: int) -> None:
        """`InstanceLimitError` for a job that cannot be accepted. `used`: by all unfinished jobs."""
        if asked <= self.instances and not (self.refuse and used + asked > self.instances):
            return
        remedy = "Here the limit is smlocal's own: start the endpoint with a higher one, or wait until jobs end."
        raise limit_exceeded(instance_type, limit=self.instances, asked=asked, used=used, remedy=remedy)


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

    def start(self, name: str, kind: str = "") -> str | None:
        """Give an unfinished job a supervisor, in a process of its own; returns why that was not possible.

        `kind`: of the job, whose modules the starter then has for the next ones.
        It is not an error if the job has ended or has a supervisor. `JobStarterError` if no starter can be kept alive.
        """
        with self._lock:
            for _ in range(_TRIES):
                answer = self._ask(self._running(), f"{name} {kind}")
                if answer:
                    text = answer.strip()
                    return json.loads(text) if text else None
                self._end()
        raise JobStarterError(
            "the process that starts jobs does not answer",
            details=[f"It was to start the job '{name}'."],
            remedy=["Its standard error says why. The job still waits."],
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

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            # A session of its own: Ctrl-C in the owner's terminal must not end it between two jobs.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "smlocal.jobs.submission.starter_process", self._home],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        return self._process

    def _ask(self, process: subprocess.Popen[bytes], line: str) -> bytes:
        """The line that it answers; nothing if it has ended or does not answer."""
        if process.stdin is None or process.stdout is None:
            raise AssertionError(process)
        try:
            process.stdin.write(f"{line}\n".encode())
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


_AGAIN_SECONDS = 10.0
"""A job whose supervisor ends at once, as without an engine, gets a new one so often."""


class Scheduler:
    """Starts the waiting jobs of one home. Several of them may work on one home, even in different processes."""

    def __init__(self, store: Store, *, instances: int | None = None) -> None:
        """`instances`: how many may be in use at once; None for no limit."""
        self._store = store
        self._instances = instances
        self._starter = JobStarter(store.home)
        self._lock = Lock()
        self._tried: dict[str, float] = {}
        """When each job was last started."""

    @property
    def starter(self) -> JobStarter:
        """The process that starts jobs."""
        return self._starter

    def start_waiting(self) -> Mapping[str, str | None]:
        """Start the jobs that may start now, and those whose supervisor was killed; returns their names.

        With each name: why it has no supervisor yet, if it could not get one. It is tried again ten seconds later.

        To be called after each submission, when a job has ended, and every few seconds while jobs are unfinished. It
        returns when they have supervisors. It takes a fraction of a millisecond when there is nothing to start.
        """
        with self._lock:
            # In the store they count as started from here on, so that no scheduler starts more than the limit allows.
            # If this process dies now, they are orphans, and the next scheduler or command starts them.
            self._store.start_pending(now=time.time, limit=self._instances)
            now = time.monotonic()
            self._tried = {name: at for name, at in self._tried.items() if now - at < _AGAIN_SECONDS}
            found = [name for name in orphans(self._store) if name not in self._tried]
            self._tried.update(dict.fromkeys(found, now))
            kinds = {record.name: record.platform for record in self._store.unfinished()} if found else {}
            return {name: self._starter.start(name, kinds.get(name, "")) for name in found}

    def close(self) -> None:
        """End the starter process. Running jobs go on, and waiting ones wait."""
        self._starter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingJob:
    """What a kind says of a valid job before anything has looked at this machine."""

    platform: str
    arn: str
    request: Mapping[str, Any]
    """As its description shows it."""
    job: Mapping[str, Any]
    """The document from which it is prepared when it begins."""
    instances: int = 0
    """Those that count as in use from now on until its end."""
    needs: tuple[tuple[str, int], ...] = ()
    """The types and numbers of instances that it takes at once. If it leads others, what each of them takes."""
    leads: bool = False
    """True if it starts jobs of its own, which wait until they fit."""
    model_uri: str = ""


def record_waiting(
    waiting: WaitingJob,
    *,
    name: str,
    store: Store,
    limit: InstanceLimit | None = None,
    documents: Mapping[str, Any] | None = None,
) -> JobRecord:
    """Record it as `InProgress`/`Pending`, durably.

    Neither the engine nor S3 is asked: a wrong image or wrong data makes the job fail when it begins. `NameInUseError`
    if there is a job of this name, `InstanceLimitError` if it is above the limit. `documents`: more to store.
    """

    def check(used: int) -> None:
        if limit is not None:
            for kind, count in waiting.needs:
                limit.check(instance_type=kind, asked=count, used=0 if waiting.leads else used)

    of_others = {QUEUE: {"Instances": None if limit is None else limit.instances}} if waiting.leads else {}
    store.add_pending(
        name,
        run_id=os.urandom(4).hex(),
        created=time.time(),
        arn=waiting.arn,
        model_uri=waiting.model_uri,
        instances=waiting.instances,
        platform=waiting.platform,
        documents={REQUEST: waiting.request, JOB: waiting.job, **of_others, **(documents or {})},
        check=check,
    )
    return store.get(name)
