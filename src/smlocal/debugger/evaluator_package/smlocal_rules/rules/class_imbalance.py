"""Classes of which there are few samples, or that the model does not learn."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.labelled import LOSS_LABELS, LOSS_PREDICTIONS, labels_and_predictions
from smlocal_rules.parameters import Patterns, number, parameter, patterns, truth, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


class ClassCounts:
    """How often each class has been seen, and how often it was predicted wrongly."""

    def __init__(self) -> None:
        self.samples: Counter[int] = Counter()
        self._predicted: Counter[int] = Counter()
        self._wrong: Counter[int] = Counter()

    def add(self, labels: "Array", predictions: "Array | None") -> None:
        """One batch."""
        self.samples.update(labels.tolist())
        if predictions is not None:
            self._predicted.update(labels.tolist())
            self._wrong.update(labels[labels != predictions].tolist())

    @property
    def imbalance(self) -> float:
        """Samples of the largest class to those of the smallest one."""
        return max(self.samples.values()) / min(self.samples.values())

    @property
    def mispredictions(self) -> dict[int, float]:
        """The fraction of wrong predictions for each class."""
        return {label: self._wrong[label] / count for label, count in sorted(self._predicted.items())}


@dataclass(frozen=True, kw_only=True)
class ClassImbalance(BuiltInRule):
    """One class has far more samples than another, or one class is mostly predicted wrongly.

    Labels are counted from the first step on. They are judged at each step after the first `samples` labels.
    """

    TABLE_1: ClassVar = ("Class imbalance",)
    DECISIONS: ClassVar = """
    - Classes that never occur are not counted.
    - Predictions that are floats, one for each label, are rounded: those of a binary classifier are
      probabilities.
    - In PyTorch, the inputs of the loss are predictions and labels. If no tensor matches a documented pattern,
      `CrossEntropyLoss_input_1` or `NLLLoss_input_1` are the labels. `CrossEntropyLoss_input_0` or
      `NLLLoss_input_0` are the predictions, to which `argmax` is always applied. The label -100, which these losses
      ignore, is not counted.
    - Labels that are not whole numbers are an error.
    - If there are labels without predictions, only the imbalance is judged.
    """

    threshold_imbalance: float = parameter(
        10.0, number, "How many times as many samples the largest class may have as the smallest one."
    )
    threshold_misprediction: float = parameter(
        0.7, number, "The fraction of a class that may be predicted wrongly, from 0 to 1."
    )
    samples: int = parameter(500, whole_number, "How many labels are counted before the rule judges.")
    argmax: bool = parameter(False, truth, "Whether the predictions have a value for each class.")
    labels_regex: Patterns = parameter(
        Patterns((".*labels",), (LOSS_LABELS,)), patterns, "The name of the tensor with the labels."
    )
    predictions_regex: Patterns = parameter(
        Patterns((".*predictions",), (LOSS_PREDICTIONS,)), patterns, "The name of the tensor with the predictions."
    )

    _counts: ClassCounts = field(init=False, default_factory=ClassCounts)

    def judge(self, tensors: "Tensors") -> str | None:
        """The imbalance, or the class that is predicted wrongly."""
        labels, predictions = tensors.matching(self.labels_regex), tensors.matching(self.predictions_regex)
        for pair in labels_and_predictions(tensors, labels, predictions, argmax=self.argmax):
            self._counts.add(*pair)
        seen = self._counts.samples.total()
        if not seen or seen < self.samples:
            return None
        if self._counts.imbalance > self.threshold_imbalance:
            return f"the largest class has {self._counts.imbalance:g} times as many samples as the smallest one"
        for label, fraction in self._counts.mispredictions.items():
            if fraction > self.threshold_misprediction:
                return f"{100 * fraction:g} % of class {label} is predicted wrongly"
        return None
