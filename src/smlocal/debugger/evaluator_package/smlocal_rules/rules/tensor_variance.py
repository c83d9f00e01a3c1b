"""Tensors whose values differ too little or too much."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import Patterns, number, optional, parameter, patterns, words

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors


@dataclass(frozen=True, kw_only=True)
class TensorVariance(BuiltInRule):
    """The variance of a tensor is above one limit or below another."""

    TABLE_1: ClassVar = ("Variance of values too small",)
    DECISIONS: ClassVar = """
    - Without `max_threshold` and `min_threshold`, nothing is judged.
    - Without `collection_names` and `tensor_regex`, all tensors of a step are judged. The variance of a scalar is
      0.
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose tensors are judged.")
    tensor_regex: Patterns | None = parameter(None, optional(patterns), "Names of more tensors to judge.")
    max_threshold: float | None = parameter(None, optional(number), "The largest variance that is allowed.")
    min_threshold: float | None = parameter(None, optional(number), "The smallest variance that is allowed.")

    def judge(self, tensors: "Tensors") -> str | None:
        """The first tensor outside of the limits."""
        if self.max_threshold is None and self.min_threshold is None:
            return None
        for name in tensors.chosen(self.collection_names or (), self.tensor_regex):
            variance = tensors.reduction(name, "variance")
            if variance is not None and self.is_outside(variance):
                return f"the variance of {name} is {variance:g}"
        return None

    def is_outside(self, variance: float) -> bool:
        """Whether a variance is too large or too small."""
        too_large = self.max_threshold is not None and variance > self.max_threshold
        return too_large or (self.min_threshold is not None and variance < self.min_threshold)
