"""Training that goes on without improving the model."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.losses import TRAINING, VALIDATION, means_by_kind
from smlocal_rules.parameters import number, parameter, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors


class Improvement:
    """The best loss so far, and for how many steps there has been no better one."""

    def __init__(self) -> None:
        self.best: float | None = None
        self.improved = False
        self.waiting = 0

    def add(self, loss: float, *, delta: float) -> None:
        """One more loss; it is better if it is below the best one by more than `delta`."""
        if self.best is None or loss < self.best - delta:
            self.improved = self.best is not None
            self.best = loss
            self.waiting = 0
        else:
            self.waiting += 1


@dataclass(frozen=True, kw_only=True)
class Overtraining(BuiltInRule):
    """The loss of training or of validation has fallen, and does not fall any more."""

    TABLE_1: ClassVar = ("Overtraining",)
    DECISIONS: ClassVar = """
    - One of the two losses is enough. In the paper, that of validation rises again, while that of training may
      fall.
    - A loss that has never improved is not overtraining: LossNotDecreasing finds it.
    - Steps are those at which the loss was saved. `delta` is a difference of losses, not a percentage.
    - Modes or names tell the losses apart, as for Overfit.
    """

    patience_train: int = parameter(5, whole_number, "At how many steps the loss of training may fail to improve.")
    patience_validation: int = parameter(
        10, whole_number, "At how many steps the loss of validation may fail to improve."
    )
    delta: float = parameter(0.01, number, "By how much a loss must be below the best one to be better.")

    _seen: dict[str, Improvement] = field(init=False, default_factory=dict)

    def judge(self, tensors: "Tensors") -> str | None:
        """The loss that has stopped falling."""
        patience = {TRAINING: self.patience_train, VALIDATION: self.patience_validation}
        for kind, loss in means_by_kind(tensors).items():
            seen = self._seen.setdefault(kind, Improvement())
            seen.add(loss, delta=self.delta)
            if seen.improved and seen.waiting >= max(patience[kind], 1):
                return f"the loss of {kind} was {seen.best:g} and has not been better for {seen.waiting} steps"
        return None
