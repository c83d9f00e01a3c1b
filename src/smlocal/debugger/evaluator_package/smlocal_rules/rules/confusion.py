"""The confusion matrix of a classifier."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.failures import ParameterError, TensorError
from smlocal_rules.labelled import LOSS_LABELS, LOSS_PREDICTIONS, labels_and_predictions
from smlocal_rules.parameters import Patterns, number, optional, parameter, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors

_FEWEST, _MOST = 2, 10_000
"""Classes: a confusion is possible, and the matrix takes less than half a gigabyte."""
_START_OF_NETWORK = 100
"""A network begins with predictions by chance. A first tree does not."""


def confusion_matrix(labels: "Array", predictions: "Array", classes: int) -> "Array":
    """How often each label (row) was predicted as each class (column). Negative ones have none."""
    matrix = np.zeros((classes, classes), dtype=np.int32)
    counted = (labels >= 0) & (predictions >= 0)
    np.add.at(matrix, (labels[counted], predictions[counted]), 1)
    return matrix


def judge_matrix(matrix: "Array", *, min_diag: float, max_off_diag: float) -> str | None:
    """The first class that is confused with another."""
    for predicted in range(len(matrix)):
        column = matrix[:, predicted]
        total = column.sum()
        if not total:
            if matrix[predicted].any():
                return f"class {predicted} is never predicted"
            continue
        shares = column / total
        if shares[predicted] < min_diag:
            return f"{100 * shares[predicted]:g} % of the predictions of class {predicted} are right"
        shares[predicted] = 0
        label = int(shares.argmax())
        if shares[label] > max_off_diag:
            return f"{100 * shares[label]:g} % of the predictions of class {predicted} are of class {label}"
    return None


@dataclass(frozen=True, kw_only=True)
class Confusion(BuiltInRule):
    """A classifier confuses classes: a matrix is made from the labels and predictions of each step and judged."""

    TABLE_1: ClassVar = ("Classifier confusion",)
    DECISIONS: ClassVar = """
    - The guide divides an element of the diagonal by the sum of the diagonal. The largest of ten classes would
      then have to be nine tenths of all samples. Here it is divided by the sum of its column, as the other
      elements are.
    - A class that occurs and is never predicted meets the condition.
    - Without `category_no`, the classes are counted from the largest number among labels and predictions.
    - The guide allows the rule for XGBoost only. Here it works for the inputs of a PyTorch loss too, as
      ClassImbalance.
    - A network confuses all classes at its first steps. Without `start_step`, the inputs of a PyTorch loss are judged
      from step 100 on, and labels and predictions of the documented names, as XGBoost saves them, from the first on.
      The guide's rule has no such parameter. A rule that ends earlier reports that.
    - Each step is judged by itself. With fewer than ten predictions of a class in a batch, one error is enough:
      save larger batches, or give a smaller `min_diag` and a larger `max_off_diag`.
    - More than 10,000 classes are an error.
    """

    category_no: int | None = parameter(None, optional(whole_number), "The number of classes, at least 2.")
    labels: str = parameter("labels", str, "The name of the tensor with the labels, within its collection.")
    predictions: str = parameter("predictions", str, "The name of the tensor with the predicted classes.")
    labels_collection: str = parameter("labels", str, "The collection in which the labels are.")
    predictions_collection: str = parameter("predictions", str, "The collection in which the predictions are.")
    min_diag: float = parameter(0.9, number, "The fraction of the predictions of a class that must be right.")
    max_off_diag: float = parameter(
        0.1, number, "The fraction of the predictions of a class that may be of another class, each for itself."
    )
    start_step: int | None = parameter(
        None,
        optional(whole_number),
        "The step from which on classes are judged, as for Overfit. The service does not have it.",
    )

    _waiting: list[int] = field(init=False, default_factory=list)
    """The start step and the last step before it; empty once a step has been judged."""

    def __post_init__(self) -> None:
        if self.category_no is not None and self.category_no < _FEWEST:
            raise ParameterError(f"Confusion: category_no is {self.category_no}, and must be at least {_FEWEST}.")

    def judge(self, tensors: "Tensors") -> str | None:
        """The first class that is confused."""
        labels = self._names(tensors, self.labels_collection, self.labels, LOSS_LABELS)
        predictions = self._names(tensors, self.predictions_collection, self.predictions, LOSS_PREDICTIONS)
        if not labels or not predictions:
            return None
        start = self._start(predictions)
        if tensors.step < start:
            self._waiting[:] = [start, tensors.step]
            return None
        self._waiting.clear()
        for true, predicted in labels_and_predictions(tensors, labels, predictions, argmax=False):
            if predicted is None or not predicted.size:
                continue
            classes = max(int(true.max()) + 1, int(predicted.max()) + 1, self.category_no or _FEWEST)
            if classes > _MOST:
                raise TensorError(f"there are {classes} classes, and a confusion matrix is made of up to {_MOST}.")
            matrix = confusion_matrix(true, predicted, classes)
            met = judge_matrix(matrix, min_diag=self.min_diag, max_off_diag=self.max_off_diag)
            if met:
                return met
        return None

    def not_judged(self) -> str | None:
        """Says that no step came after the first that counts."""
        if not self._waiting:
            return None
        start, last = self._waiting
        return f"Confusion judges from step {start} on (start_step), and the last step with predictions was {last}."

    def _start(self, predictions: list[str]) -> int:
        if self.start_step is not None:
            return self.start_step
        return _START_OF_NETWORK if Patterns((LOSS_PREDICTIONS,)).matching(predictions) else 0

    @staticmethod
    def _names(tensors: "Tensors", collection: str, name: str, of_loss: str) -> list[str]:
        wanted = Patterns((f"^{name}$",), (of_loss,))
        if collection in tensors.collections:
            return wanted.matching(tensors.in_collections(collection)) or tensors.matching(wanted)
        return tensors.matching(wanted)
