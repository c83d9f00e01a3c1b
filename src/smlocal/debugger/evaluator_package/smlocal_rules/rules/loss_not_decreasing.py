"""A loss that does not fall."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.losses import LOSSES, TRAINING, VALIDATION, kind_of, losses_of
from smlocal_rules.parameters import (
    Patterns,
    number,
    one_of,
    optional,
    parameter,
    patterns,
    truth,
    whole_number,
    words,
)

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors


def decreases(before: float, now: float, *, diff_percent: float, increase_threshold_percent: float) -> bool:
    """Whether a loss has fallen enough, or has not risen too much. NaN has done neither."""
    change = 100 * (before - now) / abs(before) if before else 0.0
    return -increase_threshold_percent <= change < 0 or change >= diff_percent


@dataclass(frozen=True, kw_only=True)
class LossNotDecreasing(BuiltInRule):
    """A loss does not fall fast enough.

    Every `num_steps` steps, the loss is compared with what it was at the last comparison. The condition is met if it
    has fallen by less than `diff_percent`, or has risen by more than `increase_threshold_percent`.
    """

    TABLE_1: ClassVar = ("Loss not decreasing", "Underfitting")
    DECISIONS: ClassVar = """
    - The guide has two defaults for `mode`. Here, without it, each loss is compared with earlier ones of the same
      mode, and steps are those of the mode. With `GLOBAL`, losses of all modes are compared with each other.
    - A loss that rises by up to `increase_threshold_percent` does not meet the condition. A loss that does not
      change meets it.
    - A loss that is NaN meets the condition.
    - The paper has underfitting, for which the guide has no rule: neither the loss of training nor that of
      validation falls. Give `underfitting` to have that. In models of XGBoost, names tell them apart:
      `train-rmse`, `validation-rmse`.
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose scalars are losses.")
    tensor_regex: Patterns | None = parameter(None, optional(patterns), "Names of more losses.")
    use_losses_collection: bool = parameter(
        True, truth, "Whether the collection `losses` is judged too, if there is one."
    )
    num_steps: int = parameter(10, whole_number, "The fewest steps between two comparisons.")
    diff_percent: float = parameter(0.1, number, "By how many percent the loss has to fall between two comparisons.")
    increase_threshold_percent: float = parameter(5.0, number, "By how many percent a loss may rise.")
    mode: str | None = parameter(
        None,
        optional(one_of("TRAIN", "EVAL", "GLOBAL")),
        "Only steps of this mode are looked at; `GLOBAL` is all of them.",
    )
    underfitting: bool = parameter(
        False,
        truth,
        "Whether the condition is met only if neither the loss of training nor that of validation falls. The service "
        "does not have it.",
    )

    _compared: dict[tuple[str, str], tuple[int, float]] = field(init=False, default_factory=dict)
    _flat: dict[str, str] = field(init=False, default_factory=dict)

    def judge(self, tensors: "Tensors") -> str | None:
        """The first loss that has not fallen."""
        if self.mode not in {None, "GLOBAL", tensors.mode}:
            return None
        collections = (*(self.collection_names or ()), *((LOSSES,) if self.use_losses_collection else ()))
        of_all = self.mode == "GLOBAL"
        step = tensors.step if of_all else tensors.mode_step()
        for name, loss in losses_of(tensors, self.tensor_regex, collections).items():
            key = (name, "GLOBAL" if of_all else tensors.mode)
            then, before = self._compared.setdefault(key, (step, loss))
            if step - then < max(self.num_steps, 1):
                continue
            self._compared[key] = (step, loss)
            kind = kind_of(name, tensors.mode)
            if decreases(
                before, loss, diff_percent=self.diff_percent, increase_threshold_percent=self.increase_threshold_percent
            ):
                self._flat.pop(kind, None)
                continue
            self._flat[kind] = f"{name} was {before:g} at step {then} and is {loss:g} at step {step}"
            if not self.underfitting or {TRAINING, VALIDATION} <= self._flat.keys():
                return self._flat[kind]
        return None
