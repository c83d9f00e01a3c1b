"""Updates that do not fit the weights."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import number, one_of, optional, parameter, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


def update_ratio(before: "Array", now: "Array", compared_with: "Array", epsilon: float) -> float:
    """The mean size of the update to that of what it is compared with."""
    return float(np.mean(np.abs(now - before)) / (np.mean(np.abs(compared_with)) + epsilon))


@dataclass(frozen=True, kw_only=True)
class WeightUpdateRatio(BuiltInRule):
    """The update of a weight between two steps is too large or too small for the weight."""

    TABLE_1: ClassVar = ("Updates too small",)
    DECISIONS: ClassVar = """
    - The ratio is the mean of the absolute values of the update, divided by that of the weight before it.
    - The paper compares the update with the gradient. Give `compare_with` as `gradients` to have that; the
      gradient is that of the earlier step.
    - Only weights of the collection `weights` at steps of training are looked at. A weight that is not trained
      meets the condition.
    """

    num_steps: int | None = parameter(
        None,
        optional(whole_number),
        "The fewest steps between the two that are compared. Without it, the saved step before is taken.",
    )
    large_threshold: float = parameter(10.0, number, "The largest ratio that is allowed.")
    small_threshold: float = parameter(0.00000001, number, "The smallest ratio that is allowed.")
    epsilon: float = parameter(0.000000001, number, "Added to the divisor, which may be zero.")
    compare_with: str = parameter(
        "weights", one_of("weights", "gradients"), "The divisor of the update. The service does not have it."
    )

    def judge(self, tensors: "Tensors") -> str | None:
        """The first weight whose update is out of proportion."""
        if tensors.mode in {"EVAL", "PREDICT"}:
            return None
        for name, now in tensors.values(tensors.in_collections("weights")):
            latest = tensors.mode_step() - (self.num_steps or 0)
            steps = [step for step in tensors.earlier(name, same_mode=True) if tensors.mode_step(step) <= latest]
            before = tensors.value(name, steps[-1]) if steps else None
            if before is None or before.shape != now.shape:
                continue
            divisor = before if self.compare_with == "weights" else tensors.value(f"gradient/{name}", steps[-1])
            if divisor is None:
                continue
            ratio = update_ratio(before, now, divisor, self.epsilon)
            if ratio > self.large_threshold or ratio < self.small_threshold:
                return f"the update of {name} since step {steps[-1]} is {ratio:g} times its {self.compare_with}"
        return None
