"""Runs that should be alike and are not."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.failures import ParameterError
from smlocal_rules.parameters import Patterns, optional, parameter, patterns, words

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


def differs(one: "Array", other: "Array") -> bool:
    """Whether two arrays differ by more than rounding; NaN is equal to NaN."""
    return one.shape != other.shape or not np.allclose(one, other, equal_nan=True)


@dataclass(frozen=True, kw_only=True)
class SimilarAcrossRuns(BuiltInRule):
    """A tensor differs from the one of another run at the same step."""

    DECISIONS: ClassVar = """
    - The other runs are the parameters `other_trial_0`, `other_trial_1` and so on, or `other_trials`.
    - The guide does not say when the condition is met. Here it is when `numpy.allclose` says that the tensors
      differ.
    - Tensors and steps that only one of the runs has are not compared.
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose tensors are compared.")
    tensor_regex: Patterns | None = parameter(None, optional(patterns), "Names of more tensors to compare.")

    def judge(self, tensors: "Tensors") -> str | None:
        """The first tensor that differs."""
        if not tensors.others:
            raise ParameterError("SimilarAcrossRuns compares with another run: name its tensors in other_trial_0.")
        for name, array in tensors.values(tensors.chosen(self.collection_names or (), self.tensor_regex)):
            for other in tensors.others:
                there = tensors.in_other(other, name)
                if there is not None and differs(array, there):
                    return f"{name} is not what it is in {other.name}"
        return None
