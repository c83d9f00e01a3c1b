"""Rules that users write: a Python file with a class, as the service takes it."""

import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from smdebug.rules import Rule

from smlocal_rules.failures import ParameterError, SourceError, UnknownRuleError, suggestion
from smlocal_rules.smdebug_mended import ActionText

_MODULE = "smlocal_custom_rule"


def load_class(source: str, name: str) -> type[Any]:
    """The class of this name in a source file."""
    if not os.path.isfile(source):
        raise SourceError(f"the source of the rule, {os.path.basename(source)}, does not exist or is not a file.")
    module = _module(source)
    there = sorted(key for key, value in vars(module).items() if _is_rule(value))
    found = getattr(module, name, None)
    if not (inspect.isclass(found) and _is_rule(found)):
        has = ", ".join(there) or "none"
        text = f"{os.path.basename(source)} has no rule {name}.{suggestion(name, there)} Its rules: {has}."
        raise UnknownRuleError(text)
    return found


def _is_rule(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Rule) and value is not Rule


def _module(source: str) -> Any:
    """The file as a module. Its sibling files are not loaded, as on the service."""
    spec = importlib.util.spec_from_file_location(_MODULE, source, loader=None)
    if spec is None or spec.loader is None:
        raise SourceError(f"the source of the rule, {os.path.basename(source)}, is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_MODULE] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        text = (
            f"the source of the rule does not compile ({os.path.basename(source)}, line {error.lineno}: {error.msg})."
        )
        raise SourceError(text) from error
    except BaseException as error:  # SystemExit too: a script that ends is not a rule
        raise failure(error, source) from error
    return module


def make(rule: type[Any], trial: Any, others: Sequence[Any], arguments: Mapping[str, str], action: ActionText) -> Rule:
    """The rule with its trials. All other arguments are texts, as the API has them."""
    signature = inspect.signature(rule)
    takes_any = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())
    given: dict[str, Any] = dict(arguments)
    if not takes_any and (unknown := sorted(given.keys() - signature.parameters.keys())):
        known = [name for name in signature.parameters if name not in {"base_trial", "other_trials", "action_str"}]
        text = (
            f"{rule.__name__} has no parameter {unknown[0]}.{suggestion(unknown[0], known)} It has: {', '.join(known)}."
        )
        raise ParameterError(text)
    if "other_trials" in signature.parameters or (takes_any and others):
        given["other_trials"] = list(others) or None
    if "action_str" in signature.parameters:
        given["action_str"] = action
    try:
        return rule(trial, **given)
    except BaseException as error:  # as above
        raise failure(error, inspect.getsourcefile(rule)) from error


def failure(error: BaseException, source: str | None) -> SourceError:
    """The error in a user's code, with its line."""
    if isinstance(error, SystemExit):
        what = f"the rule called exit({'' if error.code is None else error.code!r})"
    else:
        what = f"{type(error).__name__}: {error}"
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == source]
    where = f" ({os.path.basename(source)}, line {lines[-1]})" if source and lines else ""
    return SourceError(f"{what}{where}")
