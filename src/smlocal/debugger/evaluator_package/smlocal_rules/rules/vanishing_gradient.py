"""Gradients near zero."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import number, parameter, some_of

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors


@dataclass(frozen=True, kw_only=True)
class VanishingGradient(BuiltInRule):
    """The mean of the absolute values of a gradient is nearly zero."""

    TABLE_1: ClassVar = ("Vanishing (gradients)",)
    DECISIONS: ClassVar = """
    - One gradient of the collection `gradients` is enough.
    - The paper compares minimum, maximum and mean of the gradients with thresholds. The guide's rule has the
      mean; give `statistics` to have the others. ExplodingTensor has the same for values that are too large.
    - If the hook saved this statistic of the absolute values as a reduction, and not the tensor, that is used.
    """

    threshold: float = parameter(0.0000001, number, "A gradient whose mean is below this vanishes.")
    statistics: tuple[str, ...] = parameter(
        ("mean",),
        some_of("min", "max", "mean"),
        "Which of the absolute values is compared. The service does not have it.",
    )

    def judge(self, tensors: "Tensors") -> str | None:
        """The first gradient that vanishes."""
        for name in tensors.in_collections("gradients"):
            for statistic in self.statistics:
                value = tensors.reduction(name, statistic, absolute=True)
                if value is not None and value < self.threshold:
                    return f"{statistic} of the absolute values of {name} is {value:g}"
        return None
