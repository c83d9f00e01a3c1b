"""Losses of a step, told apart by training and validation."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smlocal_rules.parameters import Patterns
    from smlocal_rules.tensors import Tensors

TRAINING, VALIDATION = "training", "validation"
_OF_VALIDATION = r"(?i)^(valid|eval|test)"
"""XGBoost has no modes, but names such as `validation-rmse`."""
LOSSES = "losses"


def kind_of(name: str, mode: str) -> str:
    """Whether a loss is of training or of validation. A script that sets no mode trains."""
    return VALIDATION if mode == "EVAL" or (mode == "GLOBAL" and re.search(_OF_VALIDATION, name)) else TRAINING


def losses_of(
    tensors: "Tensors", patterns: "Patterns | None" = None, collections: "Sequence[str]" = (LOSSES,)
) -> dict[str, float]:
    """The losses of this step by name: of the collection, and those that match. Only scalars are losses."""
    there = tuple(each for each in collections if each != LOSSES or LOSSES in tensors.collections)
    if not there and patterns is None:
        return {}
    return {
        name: float(value.sum()) for name, value in tensors.values(tensors.chosen(there, patterns)) if value.size == 1
    }


def means_by_kind(tensors: "Tensors", patterns: "Patterns | None" = None) -> dict[str, float]:
    """The mean of the losses of training at this step, and of validation, as far as there are some."""
    collections = () if patterns else (LOSSES,)
    by_kind: dict[str, list[float]] = {}
    for name, loss in losses_of(tensors, patterns, collections).items():
        by_kind.setdefault(kind_of(name, tensors.mode), []).append(loss)
    return {kind: sum(values) / len(values) for kind, values in by_kind.items()}
