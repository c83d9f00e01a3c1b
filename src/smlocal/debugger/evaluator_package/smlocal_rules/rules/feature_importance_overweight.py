"""Few features that decide nearly everything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import Patterns, number, parameter, patterns, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors


def share_of_largest(values: Sequence[float], count: int) -> float:
    """Which part of the sum the `count` largest values have."""
    total = sum(values)
    return sum(sorted(values)[::-1][:count]) / total if total else 0.0


@dataclass(frozen=True, kw_only=True)
class FeatureImportanceOverweight(BuiltInRule):
    """The most important features of an XGBoost model have too much of the total weight."""

    TABLE_1: ClassVar = ("Low feature importance",)
    DECISIONS: ClassVar = """
    - A model that uses no more than `nfeatures` features always meets the condition.
    """

    threshold: float = parameter(0.8, number, "The part of the total that the largest features may have, from 0 to 1.")
    nfeatures: int = parameter(3, whole_number, "How many of the largest features are added.")
    tensor_regex: Patterns = parameter(
        Patterns((".*feature_importance/weight",)), patterns, "Names of the tensors with the importance of a feature."
    )

    def judge(self, tensors: "Tensors") -> str | None:
        """The share of the largest features, if it is too large."""
        values = [float(array.sum()) for _, array in tensors.values(tensors.matching(self.tensor_regex))]
        share = share_of_largest(values, self.nfeatures)
        if share > self.threshold:
            return f"the {self.nfeatures} largest features have {100 * share:g} % of the total importance"
        return None
