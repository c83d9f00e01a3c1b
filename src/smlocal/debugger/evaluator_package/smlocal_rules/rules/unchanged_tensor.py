"""Tensors that do not change any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import Patterns, number, optional, parameter, patterns, truth, whole_number, words

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors

_FEWEST = 2


def unchanged(arrays: Sequence["Array"], *, rtol: float, atol: float, equal_nan: bool) -> bool:
    """Whether all arrays are close to the first one."""
    first = arrays[0]
    return all(
        first.shape == other.shape and np.allclose(first, other, rtol=rtol, atol=atol, equal_nan=equal_nan)
        for other in arrays[1:]
    )


@dataclass(frozen=True, kw_only=True)
class UnchangedTensor(BuiltInRule):
    """A tensor has been the same for some steps."""

    TABLE_1: ClassVar = ("Values not changing across steps",)
    DECISIONS: ClassVar = """
    - Without `collection_names` and `tensor_regex`, all tensors of a step are judged.
    - Steps of all modes count: weights do not change while a model is validated. Save them in steps of training
      only (`train.save_interval`).
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose tensors are judged.")
    tensor_regex: Patterns | None = parameter(None, optional(patterns), "Names of more tensors to judge.")
    num_steps: int = parameter(
        3, whole_number, "How many of the last steps at which the tensor was saved are compared, at least 2."
    )
    rtol: float = parameter(1e-05, number, "The relative tolerance of `numpy.allclose`.")
    atol: float = parameter(1e-08, number, "The absolute tolerance of `numpy.allclose`.")
    equal_nan: bool = parameter(False, truth, "Whether NaN is equal to NaN.")

    def judge(self, tensors: "Tensors") -> str | None:
        """The first tensor that has not changed."""
        before = max(self.num_steps, _FEWEST) - 1
        for name, array in tensors.values(tensors.chosen(self.collection_names or (), self.tensor_regex)):
            steps = tensors.earlier(name, same_mode=False)[-before:]
            earlier = [each for step in steps if (each := tensors.value(name, step)) is not None]
            if len(earlier) == before and unchanged(
                [array, *earlier], rtol=self.rtol, atol=self.atol, equal_nan=self.equal_nan
            ):
                return f"{name} is what it was at step {steps[0]}"
        return None
