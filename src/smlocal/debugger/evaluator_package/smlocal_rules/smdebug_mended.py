"""smdebug 1.0.34, made to do what its documentation says, and to wait for less long.

Nothing is changed in its files: the evaluator is a process of its own.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import smdebug.core.index_reader
import smdebug.trials.trial
from smdebug.core.access_layer.utils import has_training_ended
from smdebug.core.index_reader import IndexReader, LocalIndexReader
from smdebug.exceptions import SMDebugError, TensorUnavailableForStep
from smdebug.rules import Rule
from smdebug.trials.local_trial import LocalTrial

from smlocal_rules.failures import ParameterError, TensorError
from smlocal_rules.status import Progress

_LONGEST_SLEEP = 0.5
"""smdebug waits for 2 s between two looks for new steps."""
_BETWEEN_REFRESHES = 0.25
"""smdebug lists all steps before each of them, which takes most of the time of a rule once there are some hundred."""


class ActionText(str):
    """The JSON of actions. smdebug puts all of it in lower case, and so misses jobs whose names have capitals."""

    __slots__ = ()

    def strip(self, chars: str | None = None, /) -> str:
        """The same, still of this class."""
        return ActionText(super().strip(chars))

    def lower(self) -> str:
        """The same: names of actions are in lower case already."""
        return self


def actions(text: str) -> ActionText:
    """The parameter `action_json`, as smdebug can read it.

    SDK v2 writes a backslash before each quote, which no JSON has.
    """
    if not text.strip():
        return ActionText()
    try:
        document = json.loads(text.replace('\\"', '"'))
        entries = [document] if isinstance(document, dict) else list(document)
        named = [{key.lower(): value for key, value in entry.items()} for entry in entries]
    except (ValueError, TypeError, AttributeError):
        raise ParameterError(f"action_json is not a JSON list of actions: {text}") from None
    for entry in named:
        entry["name"] = str(entry.get("name", "")).lower()
    return ActionText(json.dumps(named))


def mend(action: ActionText, progress: Progress) -> None:
    """Give every rule that is made from now on these actions, and the other corrections. `progress` is told of all."""
    smdebug.trials.trial.time = _ShortSleeps
    smdebug.core.index_reader.time = _ShortSleeps
    Rule.__init__ = _initialiser(_INITIALISE, action)
    LocalTrial.refresh_data = _at_intervals(_REFRESH)
    LocalIndexReader.fetch_tensor_value = _named_failures(_FETCH, progress)
    Rule.invoke = _telling(_INVOKE, progress)
    IndexReader._update_tensors_from_json = _named_failures_of_index(_INDEX)  # noqa: SLF001 - where it reads them


class _ShortSleeps:
    """Stands for the module `time` where smdebug only sleeps."""

    time = staticmethod(time.time)

    @staticmethod
    def sleep(seconds: float) -> None:
        time.sleep(min(seconds, _LONGEST_SLEEP))


_INITIALISE = Rule.__init__
_INVOKE = Rule.invoke
_REFRESH = LocalTrial.refresh_data
_FETCH = LocalIndexReader.fetch_tensor_value
_INDEX = IndexReader._update_tensors_from_json  # noqa: SLF001 - as above


def _initialiser(original: Callable[..., None], action: ActionText) -> Callable[..., None]:
    def initialise(self: Any, base_trial: Any, action_str: Any = action, other_trials: Any = None) -> None:
        """Documented rules call it with only the trial, or with the trials in the second place."""
        if not isinstance(action_str, str):
            action_str, other_trials = action, other_trials or action_str
        original(self, base_trial, action_str, other_trials)

    return initialise


def _at_intervals(original: Callable[..., None]) -> Callable[..., None]:
    def refresh(self: Any) -> None:
        """Look for new steps unless that was done just now. The last look is after the end marker."""
        since = time.monotonic() - getattr(self, "last_refresh", float("-inf"))
        if since >= _BETWEEN_REFRESHES or has_training_ended(self.path):
            original(self)
            self.last_refresh = time.monotonic()

    return refresh


def _telling(original: Callable[..., None], progress: Progress) -> Callable[..., None]:
    def invoke(self: Any, step: int) -> None:
        """A step that cannot be judged is passed over by an exception."""
        try:
            original(self, step)
        finally:
            progress.read(step)

    return invoke


def _named_failures(original: Callable[..., Any], progress: Progress) -> Callable[..., Any]:
    def fetch(self: Any, tensor_location: Any) -> Any:
        """The value; where the file is damaged, an error that names it."""
        progress.read(tensor_location.event_file_name, tensor_location.start_idx)
        try:
            return original(self, tensor_location)
        except TensorUnavailableForStep:
            raise
        except Exception as error:
            text = (
                f"the value of {tensor_location.tensorname} in {tensor_location.event_file_name} cannot be read "
                f"({type(error).__name__}: {error})"
            )
            raise TensorError(text) from error

    return fetch


def _named_failures_of_index(original: Callable[..., Any]) -> Callable[..., Any]:
    def update(self: Any, known: Any, step: int, *document: Any) -> Any:
        """The tensors of an index file; where it is damaged, an error that names its step."""
        try:
            return original(self, known, step, *document)
        except (SMDebugError, KeyError, TypeError, ValueError, AttributeError) as error:
            text = f"the index file of step {step} in {self.path} cannot be read ({type(error).__name__}: {error})"
            raise TensorError(text) from error

    return update
