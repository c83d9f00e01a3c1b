"""Tanh and sigmoid layers whose inputs are too large."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.failures import TensorError
from smlocal_rules.parameters import Patterns, number, optional, parameter, patterns, words
from smlocal_rules.rules.dead_relu import percentage_of_inactive

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


def percentage_of_saturated(inputs: "Array", low: float, high: float, threshold: float) -> float:
    """How many of 100 nodes have an input between the limits in less than `threshold` percent of the samples."""
    return percentage_of_inactive((inputs > low) & (inputs < high), threshold)


@dataclass(frozen=True, kw_only=True)
class SaturatedActivation(BuiltInRule):
    """Too many nodes of a tanh or sigmoid layer are saturated: their gradient is nearly zero for nearly all samples."""

    TABLE_1: ClassVar = ("Tanh saturation", "Sigmoid saturation")
    DECISIONS: ClassVar = """
    - A node is active for a sample if its input is between the limits. Its activity is the percentage of the
      samples of a step for which it is active.
    - The paper calls a sigmoid saturated outside of -5 and 5: give these as `threshold_sigmoid_min` and
      `threshold_sigmoid_max`.
    - The name says which limits are meant: it contains `tanh` or `sigmoid`. Others are an error.
    - In PyTorch, `tanh_input_0` matches the documented pattern. If no tensor does, `tanh1_input_0` and names of
      this form are judged.
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose tensors are judged too.")
    tensor_regex: Patterns = parameter(
        Patterns((".*tanh_input|.*sigmoid_input",), (r"(?i)(tanh|sigmoid)\d*_input",)),
        patterns,
        "Names of the inputs of tanh and sigmoid layers.",
    )
    threshold_tanh_min: float = parameter(-9.4999, number, "Below it, the input of a tanh is too small.")
    threshold_tanh_max: float = parameter(9.4999, number, "Above it, the input of a tanh is too large.")
    threshold_sigmoid_min: float = parameter(-23.0, number, "Below it, the input of a sigmoid is too small.")
    threshold_sigmoid_max: float = parameter(16.99999, number, "Above it, the input of a sigmoid is too large.")
    threshold_inactivity: float = parameter(
        1.0, number, "A node that is active for less than this percentage of the samples is saturated."
    )
    threshold_layer: float = parameter(50.0, number, "The percentage of the nodes of a layer that may be saturated.")

    def judge(self, tensors: "Tensors") -> str | None:
        """The first layer with too many saturated nodes."""
        for name, array in tensors.values(tensors.chosen(self.collection_names or (), self.tensor_regex)):
            low, high = self._limits(name)
            saturated = percentage_of_saturated(array, low, high, self.threshold_inactivity)
            if saturated > self.threshold_layer:
                return f"{saturated:g} % of the nodes of {name} are saturated"
        return None

    def _limits(self, name: str) -> tuple[float, float]:
        if "tanh" in name.lower():
            return self.threshold_tanh_min, self.threshold_tanh_max
        if "sigmoid" in name.lower():
            return self.threshold_sigmoid_min, self.threshold_sigmoid_max
        text = f"{name} is not, by its name, the input of a tanh or a sigmoid: restrict tensor_regex to such names."
        raise TensorError(text)
