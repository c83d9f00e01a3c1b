"""Validation that is worse than training."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.losses import TRAINING, VALIDATION, means_by_kind
from smlocal_rules.parameters import Patterns, number, optional, parameter, patterns, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors


class LossGap:
    """The ratio between validation and training, and for how many steps it has been too large."""

    def __init__(self) -> None:
        self._training: list[float] = []
        self._validation: list[float] = []
        self.steps = 0

    def add(self, training: float | None, validation: float | None, *, threshold: float) -> float | None:
        """The ratio after one more step; None where there is nothing to compare.

        A validation is compared with all training since the last one.
        """
        if training is not None:
            if self._validation:
                self._training, self._validation = [], []
            self._training.append(training)
        if validation is None or not self._training:
            return None
        self._validation.append(validation)
        trained = sum(self._training) / len(self._training)
        validated = sum(self._validation) / len(self._validation)
        gap = (validated - trained) / abs(trained) if trained else float("inf") if validated > trained else 0.0
        self.steps = self.steps + 1 if gap > threshold else 0
        return gap


@dataclass(frozen=True, kw_only=True)
class Overfit(BuiltInRule):
    """The loss of validation is larger than that of training."""

    TABLE_1: ClassVar = ("Overfitting",)
    DECISIONS: ClassVar = """
    - At each step with a loss of validation, the mean of this validation so far is compared with the mean of the
      training since the validation before.
    - Modes tell the losses apart (`hook.set_mode`); without modes, as in XGBoost, names do: `train-rmse`,
      `validation-rmse`.
    - The condition is met at the `patience`-th step in a row that is above `ratio_threshold`.
    """

    tensor_regex: Patterns | None = parameter(
        None, optional(patterns), "Names of the losses. Without it, they are those of the collection `losses`."
    )
    start_step: int = parameter(0, whole_number, "The step from which on losses are compared.")
    patience: int = parameter(1, whole_number, "For how many steps in a row the ratio must be too large.")
    ratio_threshold: float = parameter(0.1, number, "The difference of the means, divided by the mean of training.")

    _gap: LossGap = field(init=False, default_factory=LossGap)

    def judge(self, tensors: "Tensors") -> str | None:
        """The ratio, if it has been too large for long enough."""
        means = means_by_kind(tensors, self.tensor_regex)
        if tensors.step < self.start_step:
            return None
        gap = self._gap.add(means.get(TRAINING), means.get(VALIDATION), threshold=self.ratio_threshold)
        if gap is not None and self._gap.steps >= max(self.patience, 1):
            return f"the loss of validation is {100 * gap:g} % above that of training"
        return None
