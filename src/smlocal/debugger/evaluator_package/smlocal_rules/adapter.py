"""Built-in rules as smdebug has rules."""

import importlib
import json
import time
from collections.abc import Sequence
from typing import Any

from smdebug.exceptions import NoMoreData, RuleEvaluationConditionMet
from smdebug.rules import Rule, invoke_rule

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.configuration import Configuration
from smlocal_rules.failures import UnknownRuleError, suggestion
from smlocal_rules.parameters import read_parameters
from smlocal_rules.registry import BUILT_IN, PROFILER_RULES, REPORT_RULES
from smlocal_rules.rules.stalled_training_rule import LastProgress, StalledTrainingRule
from smlocal_rules.smdebug_mended import ActionText, actions
from smlocal_rules.tensors import Tensors

_SECONDS_BETWEEN_LOOKS = 0.5


class BuiltIn(Rule):  # type: ignore[misc] # smdebug has no types
    """A built-in rule. The name of its class is in messages, so there is one for each."""

    def __init__(self, base_trial: Any, judge: Any, other_trials: Sequence[Any]) -> None:
        super().__init__(base_trial, other_trials=list(other_trials))
        self.reason: str | None = None
        """Why the condition is met."""
        self.read = 0
        """How many values have been judged."""
        self._judge = judge

    def invoke_at_step(self, step: int) -> bool:
        """Whether the condition is met."""
        tensors = Tensors(self.base_trial, step, self.other_trials)
        self.reason = self._judge.judge(tensors)
        self.read += tensors.read
        if self.reason:
            self.logger.info("%s: %s, at step %s", self.rule_name, self.reason, step)
        return self.reason is not None

    def watch(self) -> None:
        """Judge every step until the end of the data, which is an exception, as is a condition that is met."""
        invoke_rule(self, raise_eval_cond=True)


class Stalled(BuiltIn):
    """The rule that looks at the time, not at tensors."""

    def watch(self) -> None:
        """Wait for the end of training, or for too long without new steps."""
        threshold = self._judge.threshold
        progress = LastProgress(time.monotonic())
        self.read = 1
        while True:
            steps = self.base_trial.steps(show_incomplete_steps=True)
            if self.base_trial.loaded_all_steps:
                raise NoMoreData(progress.step, self.base_trial.mode(progress.step), progress.step)
            seconds = progress.seconds_without(steps, time.monotonic())
            if seconds > threshold:
                self.reason = f"no tensors have been saved for {seconds:.0f} s"
                self._actions.invoke()
                raise RuleEvaluationConditionMet(self.rule_name, progress.step)
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def judge_of(configuration: Configuration) -> BuiltInRule:
    """The rule that is asked for, with its parameters."""
    name = configuration.rule_to_invoke
    if name in PROFILER_RULES | REPORT_RULES:
        raise UnknownRuleError(f"smlocal records the built-in rule {name} and does not evaluate it.")
    if name not in BUILT_IN:
        text = (
            f"there is no built-in rule {name}.{suggestion(name, BUILT_IN)} "
            "A custom rule needs the parameter source_s3_uri with its source."
        )
        raise UnknownRuleError(text)
    module = importlib.import_module(f"smlocal_rules.rules.{BUILT_IN[name]}")
    rule: BuiltInRule = read_parameters(getattr(module, name), configuration.arguments)
    return rule


def actions_of(configuration: Configuration, judge: BuiltInRule | None) -> ActionText:
    """The actions when the condition is met."""
    if isinstance(judge, StalledTrainingRule) and judge.stop_training_on_fire:
        prefix = judge.training_job_name_prefix or configuration.job_name
        return actions(json.dumps({"name": "stoptraining", "training_job_prefix": prefix}))
    return actions(configuration.action)


def built_in(judge: BuiltInRule, trial: Any, others: Sequence[Any]) -> BuiltIn:
    """The rule as smdebug has it, called as it is on the service."""
    base = Stalled if isinstance(judge, StalledTrainingRule) else BuiltIn
    made: BuiltIn = type(type(judge).__name__, (base,), {})(trial, judge, others)
    return made
