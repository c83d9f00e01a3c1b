"""The view of a rule at one step: the tensors of that step, and of earlier ones."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from smdebug.core.reductions import get_numpy_reduction
from smdebug.exceptions import StepNotYetAvailable, StepUnavailable, TensorUnavailable, TensorUnavailableForStep

from smlocal_rules.failures import ParameterError, suggestion
from smlocal_rules.parameters import Patterns

Array = npt.NDArray[Any]

_NOT_THERE = (TensorUnavailable, TensorUnavailableForStep, StepUnavailable, StepNotYetAvailable)
_NUMERIC = "biuf"
"""Kinds of numpy's types. XGBoost saves texts as well."""


class Tensors:
    """The tensors of one step. Steps are global: they count those of all modes."""

    def __init__(self, trial: Any, step: int, others: Sequence[Any] = ()) -> None:
        self.step = step
        self.mode: str = trial.mode(step).name
        """TRAIN, EVAL, PREDICT, or GLOBAL if the script sets none."""
        self.others = others
        self.read = 0
        """How many values have been asked for and were there."""
        self._trial = trial
        self._names: list[str] = sorted(trial.tensor_names(step=step))

    def matching(self, patterns: Patterns) -> list[str]:
        """Names of tensors of this step that match."""
        return patterns.matching(self._names)

    @property
    def collections(self) -> frozenset[str]:
        """Names of the collections of the trial."""
        return frozenset(self._trial.collections())

    def in_collections(self, *collections: str) -> list[str]:
        """Names of tensors of this step that are in one of these collections."""
        there = self._trial.collections()
        found: set[str] = set()
        for name in collections:
            if name not in there:
                text = (
                    f"the trial has no collection {name}.{suggestion(name, there)} It has: {', '.join(sorted(there))}."
                )
                raise ParameterError(text)
            collection = there[name]
            found.update(collection.tensor_names)
            found.update(Patterns(tuple(collection.include_regex)).matching(self._names))
        return [name for name in self._names if name in found]

    def chosen(self, collections: Sequence[str], patterns: Patterns | None) -> list[str]:
        """The tensors of both; all of this step if neither is given."""
        if not collections and patterns is None:
            return self._names
        found = {*self.in_collections(*collections), *(self.matching(patterns) if patterns else ())}
        return [name for name in self._names if name in found]

    def values(self, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        """The arrays of these tensors, without those that are texts or of which only reductions were saved."""
        for name in names:
            value = self.value(name)
            if value is not None:
                yield name, value

    def value(self, name: str, step: int | None = None) -> Array | None:
        """The array of a tensor at this step or another; None if it is not there, or no number."""
        value = self._saved(name, self.step if step is None else step)
        if value is None or value.dtype.kind not in _NUMERIC or not value.size:
            return None
        self.read += 1
        return value

    def _saved(self, name: str, step: int) -> Array | None:
        try:
            return np.asarray(self._trial.tensor(name).value(step))
        except _NOT_THERE:
            return None

    def reduction(self, name: str, reduction: str, *, absolute: bool = False) -> float | None:
        """A reduction of the array, or as the hook saved it without the array; None if neither is there."""
        value = self._saved(name, self.step)
        if value is None:
            try:
                value = np.asarray(self._trial.tensor(name).reduction_value(self.step, reduction, abs=absolute))
            except _NOT_THERE:
                return None
        elif value.dtype.kind in _NUMERIC and value.size:
            value = np.asarray(get_numpy_reduction(reduction, value, abs=absolute))
        else:
            return None
        self.read += 1
        return float(value.sum())

    def earlier(self, name: str, *, same_mode: bool) -> list[int]:
        """Steps before this one at which the tensor was saved, the latest last."""
        steps = self._trial.tensor(name).steps()
        return [
            step for step in steps if step < self.step and (not same_mode or self._trial.mode(step).name == self.mode)
        ]

    def mode_step(self, step: int | None = None) -> int:
        """The number of a step among those of its mode."""
        return int(self._trial.mode_step(self.step if step is None else step))

    def in_other(self, trial: Any, name: str) -> Array | None:
        """The array of another trial's tensor at this step; None if it was not saved there."""
        try:
            tensor = trial.tensor(name)
            return np.asarray(tensor.value(self.step)) if self.step in tensor.steps() else None
        except _NOT_THERE:
            return None
