"""Labels and predictions of a step, for the rules that compare them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from smlocal_rules.failures import TensorError

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors

LOSS_LABELS = r"(CrossEntropy|NLL)Loss(_\d+)?_input_1$"
LOSS_PREDICTIONS = r"(CrossEntropy|NLL)Loss(_\d+)?_input_0$"
"""PyTorch has neither labels nor predictions, but the inputs of its loss: one number per class, and the labels."""

_IGNORED = -100
"""A label that the losses of PyTorch leave out, unless they are told otherwise."""


def as_classes(labels: "Array", *, name: str) -> "Array":
    """The classes that labels name, which may be floats."""
    labels = labels.reshape(-1)
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.rint(labels)):
        raise TensorError(f"{name} has values that are not classes, such as {labels[labels != np.rint(labels)][0]:g}.")
    return labels.astype(np.int64)


def classes_of(predictions: "Array", labels: "Array", *, argmax: bool, name: str) -> "Array":
    """The predicted classes, one for each label."""
    if argmax and predictions.ndim > 1:
        predictions = np.argmax(predictions, axis=1)
    predictions = predictions.reshape(-1)
    if predictions.size != labels.size:
        text = (
            f"{name} has {predictions.size} values for {labels.size} labels. "
            "If it has a value for each class, give the parameter argmax."
        )
        raise TensorError(text)
    if predictions.dtype.kind == "f":
        return np.rint(predictions).astype(np.int64)  # probabilities of a binary classifier, or classes as floats
    return predictions.astype(np.int64)


def labels_and_predictions(
    tensors: "Tensors", labels: list[str], predictions: list[str], *, argmax: bool
) -> Iterator[tuple["Array", "Array | None"]]:
    """Pairs of labels and predicted classes; None for labels without predictions."""
    for index, name in enumerate(labels):
        true = tensors.value(name)
        if true is None:
            continue
        true = as_classes(true, name=name)
        counted = true != _IGNORED
        predicted = tensors.value(predictions[index]) if index < len(predictions) else None
        if predicted is None:
            yield true[counted], None
            continue
        of_loss = argmax or predictions[index].endswith("_input_0")
        yield true[counted], classes_of(predicted, true, argmax=of_loss, name=predictions[index])[counted]
