"""One container from its creation to its removal: start, output, end, stop.

It knows nothing about training hosts. A `ContainerSpec` describes the container, and the receiver of the events decides
what its end means.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from functools import partial
from threading import Event, Thread

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.engine.containers import recreate_container
from smlocal.engine.http import chosen_timeouts
from smlocal.engine.interface import ContainerSpec, Engine, Output, Resource, ResourceKind, Written
from smlocal.errors import (
    EngineError,
    EngineLostError,
    EngineNameInUseError,
    MachineNotReadyError,
    NetworkAttachError,
    PlaceRefusedError,
    SmlocalError,
)
from smlocal.jobs.decide.events import ContainerEvent, ContainerExited, ContainerLost, ThreadDied
from smlocal.jobs.logs.log_file import (
    BeginningGoneError,
    LimitedLook,
    LogFile,
    LookEndedError,
    missed_output,
    rewrite_log,
)

_SILENCE_SECONDS = 10.0
"""After a container's end its output may be silent for this long: a grandchild may keep the streams open forever."""
_BROKEN_SECONDS = 1.0
"""Output that ends so long before its container does: the connection broke, or the program closed its streams."""
_LOOK_SECONDS = 30.0
"""For reading the engine's log, which may have tens of millions of lines: the end of the job waits for it."""
_HURRY_SECONDS = 1.0
"""The wait after the container's end, once a quick end was requested: enough for output that is already on its way."""
_POLL_SECONDS = 0.1


@dataclass(kw_only=True, slots=True)
class ContainerRun:
    """One container. Two threads read its output and wait for its end, and call the given functions."""

    engine: Engine
    name: str
    """In warnings and names of threads."""
    on_event: Callable[[ContainerEvent], None] = lambda _: None
    on_output: Callable[[Written], None] = lambda _: None
    on_exit: Callable[[], None] = lambda: None
    """Called at the container's end, before the rest of its output has been read, and even if it was lost."""
    on_warning: Callable[[str], None] = lambda _: None
    log: str = ""
    """The file that gets all of the output; empty: none."""
    id: str = ""
    """The engine's id of the container, once it has been created."""
    exited: bool = False
    """True from the container's end on. Its output may not have been read completely."""
    killed: bool = False
    """True once `stop` had to send SIGKILL."""
    _spec: ContainerSpec | None = None
    _threads: list[Thread] = field(default_factory=list)
    _output: Output | None = None
    _reads: int = 0
    """How many pieces of output have been read."""
    _started: float = 0.0
    """When PID 1 had been started, by the clock of `time.monotonic`."""
    _read_until: float = 0.0
    """When the output ended, by the clock of `time.monotonic`."""
    _log_began: int = 0
    """The size of the log at the start of this container."""
    _in_on_output: bool = False
    _abandoned: bool = False
    _result: ContainerExited | ContainerLost | None = None
    _hurried: Event = field(default_factory=Event)
    _over: Event = field(default_factory=Event)
    """Set once the container's end is no longer waited for."""

    def create(self, spec: ContainerSpec) -> None:
        """Create the container. One of the same name that an earlier supervisor has left is removed first."""
        self._spec = spec
        try:
            self.id = self.engine.create(spec)
        except EngineNameInUseError:
            self.id = recreate_container(self.engine, spec)

    def start(self) -> None:
        """Attach to the container, start it and watch it; `EngineError` with the runtime's message if it cannot start.

        A swarm may be too slow in attaching a container to its network. Another container is tried once then.
        """
        try:
            self._start()
        except NetworkAttachError as error:
            if self._spec is None:
                raise
            self.on_warning(f"{self.name}: {error.sentence}; trying once more")
            self.remove()
            self.create(self._spec)
            self._start()

    def _start(self) -> None:
        """Some engines (Podman) prepare the container when a client attaches, so that may already fail."""
        output = self.engine.attach(self.id)
        try:
            self.engine.start(self.id)
            self._started = time.monotonic()
            self._watch(output)
        except BaseException:
            output.close()  # a container whose output is not read cannot even be removed
            raise

    def take_over(self, container: str) -> None:
        """Use a container that another process has started. Its output is not read, unless `watch_end` is told to."""
        self.id = container

    def watch_end(self, *, read: bool = False) -> None:
        """Wait for the end of a container that was taken over. `read`: what it writes from now on, too."""
        if read:
            self._started = time.monotonic()
            self._watch(self.engine.attach(self.id))
            return
        self._threads = [self._waiter(None)]
        self._threads[0].start()

    def signal(self, signal: str) -> None:
        """Send a signal to PID 1."""
        self.engine.signal(self.id, signal)

    def wait(self, timeout: float | None = None) -> ContainerExited | ContainerLost | None:
        """Wait until the container has ended or the engine is lost; None if neither happened in time."""
        self._over.wait(timeout)
        return self._result

    def stop(self, grace: float) -> ContainerExited | ContainerLost | None:
        """Send SIGTERM, and SIGKILL `grace` seconds later if it is still running. None: it survived that too.

        A signal that cannot be sent is not an error: the thread that waits notices a lost engine.
        """
        for signal, seconds in (("SIGTERM", grace), ("SIGKILL", chosen_timeouts().killed)):
            self.killed = signal == "SIGKILL"
            with suppress(EngineError, MachineNotReadyError):
                self.signal(signal)
            self._over.wait(seconds)
            if self._over.is_set():
                break
        return self._result

    def remove(self) -> None:
        """Remove the container, even if it is running or gone."""
        self.engine.remove(Resource(kind=ResourceKind.CONTAINER, id=self.id))

    def replaced(self, spec: ContainerSpec) -> "ContainerRun":
        """Remove the container, which has ended, and create another in its place, with the same callbacks and log."""
        if self.id:
            self.remove()
        following = ContainerRun(
            engine=self.engine,
            name=self.name,
            on_event=self.on_event,
            on_output=self.on_output,
            on_exit=self.on_exit,
            on_warning=self.on_warning,
            log=self.log,
        )
        following.create(spec)
        return following

    def join(self) -> None:
        """Wait for the threads, which end soon after the container."""
        for thread in self._threads:
            thread.join(_SILENCE_SECONDS)

    def abandon(self) -> None:
        """Report no more events. Reading ends now; the thread that waits for the end goes on."""
        self._abandoned = True
        if self._output is not None:
            self._output.close()
            self._threads[0].join(_SILENCE_SECONDS)

    def hurry(self) -> None:
        """The rest of the output is not waited for once the container has ended."""
        self._hurried.set()

    def complete_log(self, keep: int, *, stopped: Callable[[], bool] = lambda: False) -> None:
        """Replace everything after the first `keep` bytes of the log by what the engine has of this container.

        Not all of it if that takes too long, or once `stopped` returns True.
        """
        look = LimitedLook(limit=lambda: 0.0 if stopped() else self._look_limit())
        try:
            rewrite_log(self.log, keep, look.pieces(self.engine.logs(self.id)))
        except LookEndedError:
            if not stopped():
                self.on_warning(f"{self.name}: the log may not be complete: {look.left_out}")
        except (EngineError, OSError):
            pass

    def _watch(self, output: Output) -> None:
        self._output = output
        reader = watched_thread(partial(self._read, output), name=f"{self.name}-output", died=self._thread_died)
        waiter = self._waiter(reader)
        self._threads = [reader, waiter]
        reader.start()
        waiter.start()

    def _waiter(self, reader: Thread | None) -> Thread:
        died = partial(self._thread_died, container=self.name)
        return watched_thread(partial(self._wait, reader), name=f"{self.name}-wait", died=died)

    def _thread_died(self, thread: str, error: BaseException, container: str | None = None) -> None:
        self._report(ThreadDied(thread=thread, error=error, container=container))

    def _report(self, event: ContainerEvent) -> None:
        if not self._abandoned:
            self.on_event(event)

    def _read(self, output: Output) -> None:
        """Log and pass on the output. If the stream breaks, the container may still be running: `_wait` decides."""
        log = LogFile(self.log) if self.log else None
        incomplete = None
        if log is not None:
            self._log_began = log.size
        try:
            for written in output:
                if written.lines and log is not None:
                    log.write(written.lines)
                self._reads += 1
                self._in_on_output = True
                self.on_output(written)
                self._in_on_output = False
        except EngineLostError as error:
            self.on_warning(f"{self.name}: the log stream was interrupted ({error.sentence})")
        finally:
            self._read_until = time.monotonic()
            if log is not None:
                incomplete = log.close()
        if incomplete is not None:
            self.on_warning(f"{self.name}: the log is not complete: {incomplete}")

    def _drain(self, reader: Thread) -> None:
        """Wait for the rest of the output: there may be much of it, or `on_output` may be slow (a pager)."""
        began = heard = time.monotonic()
        seen = self._reads
        while reader.is_alive():
            reader.join(_POLL_SECONDS)
            now = time.monotonic()
            if self._in_on_output or seen != self._reads:
                seen, heard = self._reads, now
            if now - heard > _SILENCE_SECONDS or (self._hurried.is_set() and now - began > _HURRY_SECONDS):
                return

    def _complete_output(self, reader: Thread, *, ended: float) -> None:
        """Fetch from the engine the output that was not read because the connection broke, or went silent."""
        open_still = reader.is_alive()
        if self._abandoned or (not open_still and not self._broke(ended)):
            return
        if open_still and self._output is not None:
            self._output.close()
            reader.join(_HURRY_SECONDS if self._hurried.is_set() else _SILENCE_SECONDS)
        fetched = 0
        if self.log and not reader.is_alive():
            fetched = self._fetch_missed()
        if fetched:
            self.on_warning(
                f"{self.name}: the connection to its output broke; {fetched} bytes came from the engine's log"
            )
        elif open_still:
            self.on_warning(f"{self.name}: its output streams are still open after its end; later output is not kept")

    def _broke(self, ended: float) -> bool:
        """True if the output ended long before the container did."""
        if ended - self._read_until < _BROKEN_SECONDS:
            return False

        try:
            state = self.engine.state(self.id)
            lasted = datetime.fromisoformat(state.finished_at) - datetime.fromisoformat(state.started_at)
        except (SmlocalError, ValueError):
            return True
        # An engine that has much of the output to log reports the end late.
        return self._started + lasted.total_seconds() - self._read_until >= _BROKEN_SECONDS

    def _look_limit(self) -> float:
        return _HURRY_SECONDS if self._hurried.is_set() else _LOOK_SECONDS

    def _fetch_missed(self) -> int:
        log = LogFile(self.log)
        look = LimitedLook(limit=self._look_limit)
        fetched = 0
        try:
            for at, line in missed_output(self.log, self._log_began, look.pieces(self.engine.logs(self.id))):
                log.write(line, at)
                self.on_output(Written(line, [(1, line)]))
                fetched += len(line)
        except LookEndedError:
            self.on_warning(f"{self.name}: the log may not be complete: {look.left_out}")
        except (BeginningGoneError, EngineError, EngineLostError, OSError) as error:
            self.on_warning(f"{self.name}: the log may not be complete: {error}")
        finally:
            log.close()
        return fetched

    def _wait(self, reader: Thread | None) -> None:
        try:
            try:
                exit_code = self.engine.wait(self.id)
            finally:
                self.on_exit()
            self.exited = True
            if reader is not None:
                ended = time.monotonic()
                self._drain(reader)
                self._complete_output(reader, ended=ended)
            oom_killed = exit_code != 0 and self.engine.state(self.id).oom_killed
        except SmlocalError as error:
            refused = isinstance(error, PlaceRefusedError)
            self._result = ContainerLost(container=self.name, why=error.sentence, refused=refused)
        else:
            self._result = ContainerExited(container=self.name, exit_code=exit_code, oom_killed=oom_killed)
        finally:
            if self._output is not None:
                self._output.close()
            self._over.set()
        self._report(self._result)
