"""ReLU layers whose units have died."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import Patterns, number, parameter, patterns, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


def percentage_of_inactive(active: "Array", threshold: float) -> float:
    """How many of 100 units are active in less than `threshold` percent of the samples, which are the first axis."""
    by_unit = active.reshape(active.shape[0], -1)
    return float(100 * np.mean(100 * by_unit.mean(axis=0) < threshold))


@dataclass(frozen=True, kw_only=True)
class DeadRelu(BuiltInRule):
    """Too many units of a ReLU layer have died: their output is zero for nearly all samples."""

    TABLE_1: ClassVar = ("Dying ReLU",)
    DECISIONS: ClassVar = """
    - The activity of a unit is the percentage of the samples of a step for which its output is above zero. The
      paper counts over several batches: give `num_steps` to have that.
    - In PyTorch, an output is named after the attribute of its layer: `relu_output_0` matches the documented
      pattern. If no tensor does, `relu1_output_0` and names of this form are judged. A layer in `Sequential` has
      a number for a name (`net.1_output_0`): name it in `tensor_regex`.
    """

    tensor_regex: Patterns = parameter(
        Patterns((".*relu_output",), (r"(?i)relu\d*_output",)), patterns, "Names of the outputs of ReLU layers."
    )
    threshold_inactivity: float = parameter(
        1.0, number, "A unit that is active for less than this percentage of the samples is dead."
    )
    threshold_layer: float = parameter(50.0, number, "The percentage of the units of a layer that may be dead.")
    num_steps: int = parameter(
        1, whole_number, "Over how many saved steps the activity is counted. The service does not have it."
    )

    def judge(self, tensors: "Tensors") -> str | None:
        """The first layer with too many dead units."""
        for name, array in tensors.values(tensors.matching(self.tensor_regex)):
            batches = [array, *(self._before(tensors, name, array) if self.num_steps > 1 else [])]
            dead = percentage_of_inactive(np.concatenate(batches) > 0, self.threshold_inactivity)
            if len(batches) >= self.num_steps and dead > self.threshold_layer:
                return f"{dead:g} % of the units of {name} are dead"
        return None

    def _before(self, tensors: "Tensors", name: str, array: "Array") -> list["Array"]:
        steps = tensors.earlier(name, same_mode=True)[1 - self.num_steps :]
        before = (tensors.value(name, step) for step in steps)
        return [each for each in before if each is not None and each.shape[1:] == array.shape[1:]]
