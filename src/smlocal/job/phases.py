"""Where a job is: one call moves it on in the store, on the clock and on the screen."""

import time
from collections.abc import Sequence
from dataclasses import field

from smlocal.contract.outcome.statuses import SecondaryStatus, StatusMessage, TrainingJobStatus
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
    """From the moment a stop is recorded, the job stays `Stopping` whatever phase it is in."""
    seconds: dict[str, float] = field(default_factory=dict)
    _current: SecondaryStatus | None = None
    _began: float = 0.0
    _ended: float | None = None
    """When the phase ended, by the wall clock, if that was before this process knew of it."""

    def begin(self) -> None:
        """The first phase, which the record of the job began."""
        self._set(SecondaryStatus.STARTING, time.time())

    def take_up(self, past: Sequence[Transition], *, stopping: bool, ended: float | None) -> None:
        """Go on in the last of these phases, in which an earlier supervisor died.

        `ended`: when that phase ended, by the wall clock, if it has ended since.
        """
        self.stopping = stopping
        *earlier, current = past
        for phase in earlier:
            self._count(phase.status, (phase.ended or phase.started) - phase.started)
        self._set(current.status, current.started)
        if ended is not None:
            self._ended = max(current.started, min(ended, time.time()))

    def enter(
        self, phase: SecondaryStatus, message: StatusMessage, *, started: bool = False, ended: bool = False
    ) -> None:
        """Move on; `started` and `ended` mark TrainingStartTime and TrainingEndTime."""
        self.leave()
        at = time.time() if self._ended is None else self._ended
        self.stopping = self.stopping or phase is SecondaryStatus.STOPPING
        self.store.transition(
            self.job,
            status=TrainingJobStatus.STOPPING if self.stopping else TrainingJobStatus.IN_PROGRESS,
            secondary_status=phase,
            message=message,
            at=at,
            start_training=started,
            ended=ended,
        )
        self._set(phase, at)

    def say(self, message: StatusMessage) -> None:
        """Renew the message of the phase: the service shows the latest one."""
        if self._current is not None:
            self.store.transition(
                self.job,
                status=TrainingJobStatus.STOPPING if self.stopping else TrainingJobStatus.IN_PROGRESS,
                secondary_status=self._current,
                message=message,
                at=time.time(),
            )

    def leave(self, detail: str = "", *, good: bool = True) -> None:
        """End the current phase, if there is one that has not ended."""
        if self._current is None:
            return
        since_then = 0.0 if self._ended is None else time.time() - self._ended
        seconds = max(0.0, time.monotonic() - self._began - since_then)
        self._count(self._current, seconds)
        self.reporter.left(self._current, seconds, detail, good=good)
        self._current = None

    def _count(self, phase: SecondaryStatus, seconds: float) -> None:
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + seconds, 3)

    def _set(self, phase: SecondaryStatus, at: float) -> None:
        """`at`: when the phase began, by the wall clock."""
        self._current, self._ended = phase, None
        self._began = time.monotonic() - max(0.0, time.time() - at)
        self.reporter.entered(phase)
