"""A loss that does not fall."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.loss_trend import FEWEST_OF_WINDOW, LossTrend
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


@dataclass(frozen=True, kw_only=True)
class LossNotDecreasing(BuiltInRule):
    """A loss does not fall.

    The losses of `num_steps` steps are one look, whose value is their mean. At each look from the tenth on, the
    condition is met if one of these is so:

    - The loss rises: the last five looks are above the lowest five in a row by more than `increase_threshold_percent`,
      by more than a fifth of what the loss had fallen, and by three times the noise; and the last ten looks rise.
    - The loss does not fall: over the last `window` looks, later looks are not below earlier ones more often than
      chance explains. Or it falls by less than `diff_percent` for each look: over the first ten, or the last 20. A loss
      that has fallen by `settled_percent` since its first looks, and by four times the noise, may stay where it is.
    - The loss is the same at ten looks in a row, to six digits, or is not finite.

    If no look has been below the one before, five are enough. A loss with much noise takes more than ten: as many as
    show a fall of 4 percent for each look.
    """

    TABLE_1: ClassVar = ("Loss not decreasing", "Underfitting")
    DECISIONS: ClassVar = """
    - The guide has two defaults for `mode`. Here, without it, each loss is compared with earlier ones of the same
      mode, and steps are those of the mode. With `GLOBAL`, losses of all modes are compared with each other.
    - In the guide, a loss is compared with the one `num_steps` steps before. The losses of mini-batches differ by more
      than `diff_percent`, so such a rule flags healthy runs by chance, and one that allows each of them to rise
      by `increase_threshold_percent` does not find a loss that always rises. Here a trend is judged: Mann and
      Kendall's test, with a statistic of 1.5. The noise is what looks differ by from one to the next.
    - A finding needs at least five looks, and mostly ten: with the default, and losses that are saved at least every 10
      steps, 100 steps. The service's rule can find something after 10. A rule that ends earlier reports that.
    - A loss that has fallen by `settled_percent` and stays there does not meet the condition: Overtraining finds it. As
      the guide reads, it would: give `settled_percent` as `inf`, and as `window` for how many looks it may stay.
    - A loss that falls by less than `settled_percent` within a few looks and stays there does meet it, once it has
      stayed for longer than it fell. It may be healthy, if much of the data cannot be predicted. Nothing in the loss
      tells it from a model that has learned the frequency of the classes, and nothing else.
    - A NaN or an infinite loss meets the condition at once.
    - The paper has underfitting, for which the guide has no rule: neither the loss of training nor that of
      validation falls. Give `underfitting` to have that. In models of XGBoost, names tell them apart:
      `train-rmse`, `validation-rmse`.
    """

    collection_names: tuple[str, ...] = parameter((), optional(words), "Collections whose scalars are losses.")
    tensor_regex: Patterns | None = parameter(None, optional(patterns), "Names of more losses.")
    use_losses_collection: bool = parameter(
        True, truth, "Whether the collection `losses` is judged too, if there is one."
    )
    num_steps: int = parameter(10, whole_number, "How many steps are one look, at least.")
    diff_percent: float = parameter(0.1, number, "By how many percent the loss has to fall for each of ten looks.")
    increase_threshold_percent: float = parameter(5.0, number, "By how many percent a loss may rise.")
    mode: str | None = parameter(
        None,
        optional(one_of("TRAIN", "EVAL", "GLOBAL")),
        "Only steps of this mode are looked at; `GLOBAL` is all of them.",
    )
    window: int = parameter(
        200,
        whole_number,
        "Over how many of the last looks a trend is judged, at least 3. Fewer than 10 are judged however noisy they "
        "are. The service does not have it.",
    )
    settled_percent: float = parameter(
        20.0,
        number,
        "A loss that has fallen by this many percent may stay; `inf` for never. The service does not have it.",
    )
    underfitting: bool = parameter(
        False,
        truth,
        "Whether the condition is met only if neither the loss of training nor that of validation falls. The service "
        "does not have it.",
    )

    _trends: dict[tuple[str, str], LossTrend] = field(init=False, default_factory=dict)
    _found: dict[str, str] = field(init=False, default_factory=dict)
    """The problem of the losses of training and of validation."""

    def judge(self, tensors: "Tensors") -> str | None:
        """The first loss that does not fall."""
        if self.mode not in {None, "GLOBAL", tensors.mode}:
            return None
        collections = (*(self.collection_names or ()), *((LOSSES,) if self.use_losses_collection else ()))
        of_all = self.mode == "GLOBAL"
        step = tensors.step if of_all else tensors.mode_step()
        for name, loss in losses_of(tensors, self.tensor_regex, collections).items():
            trend = self._trends.setdefault((name, "GLOBAL" if of_all else tensors.mode), self._trend())
            if not trend.add(step, loss):
                continue
            kind = kind_of(name, tensors.mode)
            if trend.problem is None:
                self._found.pop(kind, None)
                continue
            self._found[kind] = f"{name} {trend.problem}"
            if not self.underfitting or {TRAINING, VALIDATION} <= self._found.keys():
                return self._found[kind]
        return None

    def not_judged(self) -> str | None:
        """That there were too few losses."""
        if not self._trends or any(trend.judged for trend in self._trends.values()):
            return None
        looks = max(len(trend.looks) for trend in self._trends.values())
        return (
            f"LossNotDecreasing judges a loss after {self._trend().fewest} looks of num_steps={self.num_steps} steps, "
            f"more if it is noisy, and has had {looks}: save losses more often, or give a smaller num_steps."
        )

    def _trend(self) -> LossTrend:
        return LossTrend(
            num_steps=max(self.num_steps, 1),
            diff_percent=self.diff_percent,
            increase_threshold_percent=self.increase_threshold_percent,
            window=max(self.window, FEWEST_OF_WINDOW),
            settled_percent=self.settled_percent,
        )
