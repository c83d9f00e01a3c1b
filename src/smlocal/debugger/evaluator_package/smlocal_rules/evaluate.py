"""Evaluate one rule: `python -m smlocal_rules.evaluate CONFIGURATION.json`.

It writes its status when it begins and when it ends. It ends when the condition is met, at the end of the data, or when
the rule fails. SIGTERM ends it at once, with the status as it is. The exit code is 1 after an error.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from smdebug.exceptions import MissingCollectionFiles, NoMoreData, RuleEvaluationConditionMet
from smdebug.rules import invoke_rule
from smdebug.trials import create_trial

from smlocal_rules import adapter, custom_rule
from smlocal_rules.configuration import Configuration
from smlocal_rules.endpoint_forwarder import forward
from smlocal_rules.failures import RuleError, TensorError
from smlocal_rules.smdebug_mended import mend
from smlocal_rules.status import ERROR, IN_PROGRESS, ISSUES, NO_ISSUES, Outcome, Progress, write_status


def evaluate(configuration: Configuration) -> Outcome:
    """Evaluate the rule until its end. It does not fail: errors become the outcome."""
    try:
        return _evaluate(configuration)
    except RuleError as error:
        if error.__cause__:
            traceback.print_exc()
        return Outcome(status=ERROR, details=f"{type(error).__name__}: {error}")
    except MissingCollectionFiles as error:
        text = f"{type(error).__name__}: {error}. The job has saved no tensors: does its script make the hook?"
        return Outcome(status=ERROR, details=text)
    except BaseException as error:  # noqa: BLE001 - SystemExit of a user's code too
        traceback.print_exc()
        found = custom_rule.failure(error, configuration.source_path)
        return Outcome(
            status=ERROR, details=f"{type(found).__name__}: {found}" if configuration.source_path else str(found)
        )


def _evaluate(configuration: Configuration) -> Outcome:
    if configuration.endpoint_socket:
        forward(configuration.endpoint_socket)
    if configuration.source_path:
        return _custom(configuration)
    judge = adapter.judge_of(configuration)
    mend(adapter.actions_of(configuration, judge), Progress(configuration.result_path))
    rule = adapter.built_in(judge, _trial(configuration.tensors_path), _others(configuration))
    outcome = _watched(rule.watch)
    if outcome.status == NO_ISSUES and (text := judge.not_judged() or _nothing_read(rule)):
        return Outcome(status=NO_ISSUES, details=text, step=outcome.step)
    return Outcome(status=outcome.status, details=outcome.details, step=outcome.step, reason=rule.reason)


def _nothing_read(rule: adapter.BuiltIn) -> str | None:
    if rule.read:
        return None
    return f"{rule.rule_name} found no tensors that it judges: the job saved none of that name or in that collection."


def _custom(configuration: Configuration) -> Outcome:
    action = adapter.actions_of(configuration, None)
    mend(action, Progress(configuration.result_path))
    made = custom_rule.load_class(str(configuration.source_path), configuration.rule_to_invoke)
    trial, others = _trial(configuration.tensors_path), _others(configuration)
    rule = custom_rule.make(made, trial, others, configuration.arguments, action)
    return _watched(lambda: invoke_rule(rule, raise_eval_cond=True))


def _watched(watch: Callable[[], None]) -> Outcome:
    """The outcome of a rule: smdebug tells it by exceptions."""
    try:
        watch()
    except RuleEvaluationConditionMet as met:
        return Outcome(status=ISSUES, details=f"{type(met).__name__}: {met}\n", step=met.step)
    except NoMoreData as end:
        return Outcome(status=NO_ISSUES, step=end.last_step)
    return Outcome(status=NO_ISSUES)


def _trial(path: str) -> Any:
    """The tensors of a job, as soon as there are some."""
    try:
        return create_trial(path)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"the collections of {path} cannot be read ({type(error).__name__}: {error})"
        raise TensorError(text) from error


def _others(configuration: Configuration) -> list[Any]:
    return [_trial(path) for path in configuration.other_trials]


def main() -> int:
    """The program."""
    signal.signal(signal.SIGTERM, _end)
    configuration = Configuration.read(sys.argv[1])
    write_status(configuration.result_path, Outcome(status=IN_PROGRESS))
    outcome = evaluate(configuration)
    write_status(configuration.result_path, outcome)
    return int(outcome.status == ERROR)


def _end(number: int, frame: FrameType | None) -> None:
    """At once: the code of a rule may catch SystemExit, or hold a lock."""
    del frame
    os._exit(128 + number)


if __name__ == "__main__":
    raise SystemExit(main())
