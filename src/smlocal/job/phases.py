"""The phase of a job: one call changes it in the store, on the clock and on the screen."""

import time
from collections.abc import Sequence
from dataclasses import field

from smlocal.contract.statuses import JobPhase, JobStatus, PhaseMessage
from smlocal.job.reporter import Reporter
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store
from smlocal.store.records import Transition


@dataclass(kw_only=True, slots=True)
class Phases:
    """The phases of one job and how long each took."""

    store: Store
    job: str
    reporter: Reporter
    stopping: bool = False
    """Once a stop is recorded, the status stays `Stopping` in all later phases."""
    seconds: dict[str, float] = field(default_factory=dict)
    _current: JobPhase | None = None
    _began: float = 0.0
    _ended: float | None = None
    """When the phase ended, by the wall clock, if that was before this process looked."""

    def begin(self) -> None:
        """Begin the first phase; the store has it since the job was created."""
        self._set(JobPhase.STARTING, time.time())

    def resume(self, past: Sequence[Transition], *, stopping: bool, ended: float | None) -> None:
        """Continue in the last of these phases, in which an earlier supervisor died.

        `ended`: when that phase ended, by the wall clock, if it has.
        """
        self.stopping = stopping
        *earlier, current = past
        for phase in earlier:
            self._count(phase.status, (phase.ended or phase.started) - phase.started)
        self._set(current.status, current.started)
        if ended is not None:
            self._ended = max(current.started, min(ended, time.time()))

    def enter(self, phase: JobPhase, message: PhaseMessage, *, started: bool = False, ended: bool = False) -> None:
        """Begin the next phase; `started` and `ended` set the start and the end of the training."""
        self.leave()
        at = time.time() if self._ended is None else self._ended
        self.stopping = self.stopping or phase is JobPhase.STOPPING
        self.store.transition(
            self.job,
            status=self._status,
            phase=phase,
            message=message,
            at=at,
            start_training=started,
            ended=ended,
        )
        self._set(phase, at)

    def go_on(self) -> None:
        """The phase has not ended after all: a container was started again."""
        self._ended = None

    def change_message(self, message: PhaseMessage) -> None:
        """Change the message of the phase: the service shows the latest one."""
        if self._current is not None:
            self.store.transition(self.job, status=self._status, phase=self._current, message=message, at=time.time())

    def leave(self, detail: str = "", *, good: bool = True) -> None:
        """End the current phase, if there is one."""
        if self._current is None:
            return
        already_over = 0.0 if self._ended is None else time.time() - self._ended
        seconds = max(0.0, time.monotonic() - self._began - already_over)
        self._count(self._current, seconds)
        self.reporter.phase_ended(self._current, seconds, detail, good=good)
        self._current = None

    @property
    def _status(self) -> JobStatus:
        return JobStatus.STOPPING if self.stopping else JobStatus.IN_PROGRESS

    def _count(self, phase: JobPhase, seconds: float) -> None:
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + seconds, 3)

    def _set(self, phase: JobPhase, at: float) -> None:
        """`at`: when the phase began, by the wall clock."""
        self._current, self._ended = phase, None
        self._began = time.monotonic() - max(0.0, time.time() - at)
        self.reporter.phase_began(phase)
