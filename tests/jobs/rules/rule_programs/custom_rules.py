"""Rules that users write, in the forms that the guide and its examples have, and some that fail."""

import os
import sys
import time
from typing import Any

from smdebug import modes
from smdebug.exceptions import TensorUnavailableForStep
from smdebug.rules.rule import Rule
from smdebug.trials import Trial

LIMIT = "2"


class AccuracyDrops(Rule):  # type: ignore[misc] # smdebug has no types
    """The accuracy of the validation is lower than that of an earlier job."""

    def __init__(self, base_trial: Trial, previous_accuracy: str = "0.0", threshold: str = "0.1") -> None:
        super().__init__(base_trial)
        self.previous_accuracy = float(previous_accuracy)
        self.threshold = float(threshold)

    def invoke_at_step(self, step: int) -> bool:
        if self.base_trial.mode(step) != modes.EVAL:
            return False
        scores = self.base_trial.tensor("CrossEntropyLoss_input_0").value(step)
        labels = self.base_trial.tensor("CrossEntropyLoss_input_1").value(step)
        accuracy = float((scores.argmax(axis=1) == labels).mean())
        self.logger.info("accuracy %s, previously %s", accuracy, self.previous_accuracy)
        return self.previous_accuracy - accuracy > self.threshold


class RequiresTensors(Rule):  # type: ignore[misc] # as above
    """The form that asks for its tensors first, and for their reductions."""

    def __init__(self, base_trial: Trial, limit: str = "10") -> None:
        super().__init__(base_trial, other_trials=None)
        assert isinstance(limit, str)
        self.limit = float(limit)

    def set_required_tensors(self, step: int) -> None:
        for name in self.base_trial.tensor_names(regex="_input_0$"):
            self.req_tensors.add(name, steps=[step])

    def invoke_at_step(self, step: int) -> bool:
        return any(each.reduction_value(step, "mean", abs=True) > self.limit for each in self.req_tensors.get())


class DiffersFromOthers(Rule):  # type: ignore[misc] # as above
    """The form of smdebug before 1.0: the other trials are the second argument."""

    def __init__(self, base_trial: Trial, other_trials: list[Trial] | None, tensor: str) -> None:
        super().__init__(base_trial, other_trials)
        self.tensor = tensor

    def invoke_at_step(self, step: int) -> bool:
        own = self.base_trial.tensor(self.tensor).value(step)
        return any((own != other.tensor(self.tensor).value(step)).any() for other in self.other_trials)


class TakesAnything(Rule):  # type: ignore[misc] # as above
    """With the actions as smdebug 1.0 has them, and any argument."""

    def __init__(self, base_trial: Trial, action_str: str, **others: Any) -> None:
        super().__init__(base_trial, action_str)
        self.actions = action_str.lower()
        self.others = others

    def invoke_at_step(self, _step: int) -> bool:
        return self.others == {"one": "1", "two": LIMIT} and '"My-Job"' in self.actions


class Misses(Rule):  # type: ignore[misc] # as above
    """A step that cannot be judged is passed over."""

    def __init__(self, base_trial: Trial) -> None:
        super().__init__(base_trial)

    def invoke_at_step(self, step: int) -> bool:
        raise TensorUnavailableForStep("nothing", step)


class Raises(Rule):  # type: ignore[misc] # as above
    def __init__(self, base_trial: Trial, when: str = "later") -> None:
        super().__init__(base_trial)
        assert when == "later", "too early"

    def invoke_at_step(self, step: int) -> bool:
        return bool(1 / step)


class Exits(Rule):  # type: ignore[misc] # as above
    def __init__(self, base_trial: Trial) -> None:
        super().__init__(base_trial)

    def invoke_at_step(self, _step: int) -> bool:
        sys.exit(3)


class Dies(Rule):  # type: ignore[misc] # as above
    def __init__(self, base_trial: Trial) -> None:
        super().__init__(base_trial)

    def invoke_at_step(self, _step: int) -> bool:
        os._exit(5)


class Prints(Rule):  # type: ignore[misc] # as above
    """Without end, and whatever is raised."""

    def __init__(self, base_trial: Trial) -> None:
        super().__init__(base_trial)

    def invoke_at_step(self, _step: int) -> bool:
        while True:
            try:
                print("working", flush=True)
                time.sleep(0.001)
            except BaseException:  # noqa: BLE001 - as bad code does
                continue


class Follows(Rule):  # type: ignore[misc] # as above
    """Says which steps it has seen, and finds the seventh."""

    def __init__(self, base_trial: Trial) -> None:
        super().__init__(base_trial)

    def invoke_at_step(self, step: int) -> bool:
        print("saw", step, flush=True)
        return step == 7
