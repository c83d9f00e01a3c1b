"""Values that are not finite."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import Patterns, number, optional, parameter, patterns, some_of, truth, words

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors

_STATISTICS: dict[str, Callable[..., Any]] = {"min": np.min, "max": np.max, "mean": np.mean}


def not_finite(array: "Array", *, only_nan: bool) -> bool:
    """Whether there is a NaN, or an infinite value unless only NaN counts."""
    return bool(np.isnan(array).any() if only_nan else not np.isfinite(array).all())


@dataclass(frozen=True, kw_only=True)
class ExplodingTensor(BuiltInRule):
    """A tensor has values that are infinite or not a number."""

    TABLE_1: ClassVar = ("Exploding (gradients)",)
    DECISIONS: ClassVar = """
    - The paper compares minimum, maximum and mean of the gradients with thresholds. The guide's rule does not;
      give `max_threshold` to have it, and `statistics` to say of what.
    - If only reductions of a tensor were saved, its maximum or mean is looked at: it is infinite or NaN if a
      value is.
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose tensors are judged.")
    tensor_regex: Patterns | None = parameter(None, optional(patterns), "Names of more tensors to judge.")
    only_nan: bool = parameter(False, truth, "Whether infinite values are allowed.")
    max_threshold: float | None = parameter(
        None,
        optional(number),
        "A statistic of the absolute values may not be above this. The service does not have it.",
    )
    statistics: tuple[str, ...] = parameter(
        ("max",), some_of("min", "max", "mean"), "Which of them `max_threshold` is for. The service does not have it."
    )

    def judge(self, tensors: "Tensors") -> str | None:
        """The first tensor that has exploded."""
        for name in tensors.chosen(self.collection_names or (), self.tensor_regex):
            array = tensors.value(name)
            if array is None:
                saved = (tensors.reduction(name, each) for each in ("max", "mean", "l2"))
                array = np.asarray([each for each in saved if each is not None])
            if not array.size:
                continue
            if not_finite(array, only_nan=self.only_nan):
                return f"{name} has values that are not finite"
            if self.max_threshold is None:
                continue
            for statistic in self.statistics:
                value = _STATISTICS[statistic](np.abs(array))
                if value > self.max_threshold:
                    return f"{statistic} of the absolute values of {name} is {value:g}"
        return None
