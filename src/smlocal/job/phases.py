"""Where a job is: one call moves it on in the store, on the clock and on the screen."""

import time
from dataclasses import field

from smlocal.contract.statuses import SecondaryStatus, StatusMessage, TrainingJobStatus
from smlocal.job.reporter import Reporter
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store


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

    def begin(self) -> None:
        """The first phase, which the record of the job began."""
        self._set(SecondaryStatus.STARTING)

    def take_up(self, phase: SecondaryStatus, *, stopping: bool) -> None:
        """Go on in the phase in which an earlier supervisor died."""
        self.stopping = stopping
        self._set(phase)

    def enter(
        self, phase: SecondaryStatus, message: StatusMessage, *, started: bool = False, ended: bool = False
    ) -> None:
        """Move on; `started` and `ended` mark TrainingStartTime and TrainingEndTime."""
        self.leave()
        self.stopping = self.stopping or phase is SecondaryStatus.STOPPING
        self.store.transition(
            self.job,
            status=TrainingJobStatus.STOPPING if self.stopping else TrainingJobStatus.IN_PROGRESS,
            secondary_status=phase,
            message=message,
            at=time.time(),
            start_training=started,
            ended=ended,
        )
        self._set(phase)

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
        seconds = time.monotonic() - self._began
        self.seconds[self._current] = round(self.seconds.get(self._current, 0.0) + seconds, 3)
        self.reporter.left(self._current, seconds, detail, good=good)
        self._current = None

    def _set(self, phase: SecondaryStatus) -> None:
        self._current, self._began = phase, time.monotonic()
        self.reporter.entered(phase)
