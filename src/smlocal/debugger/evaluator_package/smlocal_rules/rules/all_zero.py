"""Tensors of zeros."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import Patterns, number, optional, parameter, patterns, words

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


def percentage_of_zeros(array: "Array") -> float:
    """How many of 100 values are zero."""
    return 100 * (1 - np.count_nonzero(array) / array.size)


@dataclass(frozen=True, kw_only=True)
class AllZero(BuiltInRule):
    """All values of a tensor are zero, or a given percentage of them."""

    TABLE_1: ClassVar = ("All values zero",)
    DECISIONS: ClassVar = """
    - Without `collection_names` and `tensor_regex`, all tensors of a step are judged.
    - Biases often begin as zeros: name a collection without them.
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose tensors are judged.")
    tensor_regex: Patterns | None = parameter(None, optional(patterns), "Names of more tensors to judge.")
    threshold: float = parameter(100.0, number, "The percentage of values that must be zero.")

    def judge(self, tensors: "Tensors") -> str | None:
        """The first tensor with too many zeros."""
        for name, array in tensors.values(tensors.chosen(self.collection_names or (), self.tensor_regex)):
            zeros = percentage_of_zeros(array)
            if zeros >= self.threshold:
                return f"{zeros:g} % of {name} are zero"
        return None
