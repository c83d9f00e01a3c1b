"""Training that has stopped without ending."""

from dataclasses import dataclass
from typing import ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import number, optional, parameter, truth


class LastProgress:
    """The last step that was saved, and when it was seen."""

    def __init__(self, now: float) -> None:
        self.step = 0
        self._steps = 0
        self._since = now

    def seconds_without(self, steps: list[int], now: float) -> float:
        """For how long there has been no new step, when these have been saved."""
        if len(steps) > self._steps:
            self._steps, self.step, self._since = len(steps), steps[-1], now
        return now - self._since


@dataclass(frozen=True, kw_only=True)
class StalledTrainingRule(BuiltInRule):
    """No new tensors have been saved for a while, and training has not ended."""

    DECISIONS: ClassVar = """
    - The time begins when the first tensors can be read: a job that waits for its image or its data is not
      stalled.
    - The finding names the last saved step.
    - With `stop_training_on_fire`, smdebug's own action stops the job. Without a prefix, it is the name of the
      job.
    """

    threshold: float = parameter(1800, number, "After how many seconds without new tensors the condition is met.")
    stop_training_on_fire: bool = parameter(False, truth, "Whether the job is stopped then.")
    training_job_name_prefix: str | None = parameter(
        None, optional(str), "How the name of the job begins. If several running jobs begin so, none is stopped."
    )
