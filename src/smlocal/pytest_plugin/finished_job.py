"""A training job that has ended, as a test asks about it."""

from typing import TYPE_CHECKING

import smlocal

if TYPE_CHECKING:
    from typing import Self

    from smlocal.api.artifact import Artifact


class FinishedJob:
    """What `training_job(...)` returns. `job` is its `smlocal.TrainingJob`, for everything else."""

    def __init__(self, name: str) -> None:
        """The job of this name has ended."""
        self.job = smlocal.TrainingJob(name)
        self.name = name
        self.status = str(self.job.status)
        """`Completed`, `Failed` or `Stopped`."""
        self.failure_reason = self.job.failure_reason
        """None, or the FailureReason of the service."""

    def __repr__(self) -> str:
        return f"<training job {self._outcome()}>"

    @property
    def logs(self) -> str:
        """Everything that the containers wrote, as the service's log shows it."""
        return "\n".join(self.job.logs())

    @property
    def model(self) -> "Artifact":
        """The model: `model.names()`, `model.read("file")`, `model.open()`. An `AssertionError` when there is none."""
        __tracebackhide__ = True
        model = self.job.model
        if model is None:
            raise AssertionError(f"no model was written by training job {self._outcome()}")
        return model

    @property
    def metrics(self) -> dict[str, list[float]]:
        """What MetricDefinitions found: every value of each metric, in order."""
        metrics = self.job.metrics
        found: dict[str, list[float]] = {each.name: [] for each in metrics.definitions}
        for value in metrics.values():
            found[value.name].append(value.value)
        return found

    def assert_completed(self) -> "Self":
        """Fail unless the job is `Completed`; returns itself."""
        __tracebackhide__ = True
        if self.status != "Completed":
            raise AssertionError(f"training job {self._outcome()}")
        return self

    def _outcome(self) -> str:
        reason = f": {self.failure_reason}" if self.failure_reason else ""
        secondary = str(self.job.secondary_status)
        return f"{self.name} is {self.status}{reason or ('' if secondary == self.status else f' ({secondary})')}"
