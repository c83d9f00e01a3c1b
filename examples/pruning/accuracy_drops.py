"""A rule of this example: after a unit too many was removed, the accuracy does not come back."""

from smdebug import modes
from smdebug.rules.rule import Rule


class AccuracyDrops(Rule):
    def __init__(self, base_trial, threshold="0.95", patience="40"):
        super().__init__(base_trial)
        self.threshold, self.patience = float(threshold), int(patience)
        self.below = 0

    def invoke_at_step(self, step):
        if self.base_trial.mode(step) != modes.EVAL:
            return False
        scores = self.base_trial.tensor("CrossEntropyLoss_input_0").value(step)
        sectors = self.base_trial.tensor("CrossEntropyLoss_input_1").value(step)
        accuracy = (scores.argmax(axis=1) == sectors).mean()
        self.below = self.below + 1 if accuracy < self.threshold else 0
        return self.below >= self.patience
