"""Weights that begin with unsuitable values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.losses import losses_of
from smlocal_rules.parameters import Patterns, number, parameter, patterns, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors

_MATRIX = 2
"""Axes of the gradient of a weight. A bias has one axis, and may have one value, which has no range."""
_GRADIENTS = "gradients"


def ratio_of_variances(arrays: Sequence["Array"]) -> float:
    """The largest variance to the smallest one."""
    variances = [float(np.var(array)) for array in arrays]
    return max(variances) / min(variances) if min(variances) else float("inf")


def range_of(array: "Array") -> float:
    """From the 5th percentile to the 95th."""
    low, high = np.percentile(array, [5, 95])
    return float(high - low)


class Progress:
    """Observations of the first steps."""

    def __init__(self) -> None:
        self.steps = 0
        self._best: dict[str, float] = {}
        self._waiting: dict[str, int] = {}

    def steps_without_decrease(self, name: str, loss: float) -> int:
        """For how many steps a loss has not been below its best value."""
        if loss < self._best.get(name, float("inf")):
            self._best[name], self._waiting[name] = loss, 0
        else:
            self._waiting[name] = self._waiting.get(name, 0) + 1
        return self._waiting[name]


@dataclass(frozen=True, kw_only=True)
class PoorWeightInitialization(BuiltInRule):
    """In the first steps, layers differ too much, gradients are all alike, or the loss does not fall.

    One of three conditions is enough: the variances of the inputs of activations differ by more than `threshold` times
    between layers; the gradients of a weight are closer together than `distribution_range`; the loss has not fallen for
    `patience` steps.
    """

    TABLE_1: ClassVar = ("Poor initialization",)
    DECISIONS: ClassVar = """
    - Steps of training are counted at which something was saved, so `steps` is a number of saved steps.
    - Gradients with one axis are left out: those of a bias with one value would always meet the condition.
    - In PyTorch, `relu_input_0` matches the documented pattern. If no tensor does, `relu1_input_0` and names of
      this form are judged.
    """

    activation_inputs_regex: Patterns = parameter(
        Patterns((".*relu_input",), (r"(?i)relu\d*_input",)), patterns, "Names of the inputs of activations."
    )
    threshold: float = parameter(10.0, number, "How many times as large the largest variance of a layer may be.")
    distribution_range: float = parameter(
        0.001, number, "The smallest difference between the 5th and the 95th percentile of the gradients of a weight."
    )
    patience: int = parameter(5, whole_number, "For how many steps the loss may fail to fall.")
    steps: int = parameter(10, whole_number, "How many of the first steps are looked at.")

    _progress: Progress = field(init=False, default_factory=Progress)

    def judge(self, tensors: "Tensors") -> str | None:
        """The condition that is met, if this is one of the first steps."""
        if tensors.mode in {"EVAL", "PREDICT"} or self._progress.steps >= self.steps:
            return None
        self._progress.steps += 1
        return self._inputs(tensors) or self._gradients(tensors) or self._losses(tensors)

    def _inputs(self, tensors: "Tensors") -> str | None:
        inputs = [array for _, array in tensors.values(tensors.matching(self.activation_inputs_regex))]
        if len(inputs) > 1 and (ratio := ratio_of_variances(inputs)) > self.threshold:
            return f"the largest variance of the inputs of an activation is {ratio:g} times the smallest one"
        return None

    def _gradients(self, tensors: "Tensors") -> str | None:
        names = tensors.in_collections(_GRADIENTS) if _GRADIENTS in tensors.collections else []
        for name, array in tensors.values(names):
            if array.ndim >= _MATRIX and (spread := range_of(array)) < self.distribution_range:
                return f"most values of {name} are within {spread:g}"
        return None

    def _losses(self, tensors: "Tensors") -> str | None:
        for name, loss in losses_of(tensors).items():
            waiting = self._progress.steps_without_decrease(name, loss)
            if waiting >= max(self.patience, 1):
                return f"{name} has not fallen for {waiting} steps"
        return None
