"""The actions that a rule asks for itself (`action_json`): stop training, mail, SMS.

A rule has no network, so smlocal carries them out when the rule has found an issue, as the debugger's library would.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from smlocal.quick_dataclass import dataclass

STOP_TRAINING: Final = "stoptraining"
_MESSAGES: Final = {"email", "sms"}
_ACTION: Final = "action_json"
_STALLED: Final = "stop_training_on_fire"
_PREFIX: Final = "training_job_name_prefix"


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleAction:
    """One action."""

    name: str
    """`stoptraining`, `email` or `sms`."""
    prefix: str = ""
    """Of `stoptraining`: how the name of the job begins; empty: the job of the rule."""
    endpoint: str = ""
    """Of a message: who gets it."""


def actions_of(parameters: Mapping[str, str]) -> list[RuleAction]:
    """The actions in the parameters of a rule. What the library does not know is left out, as it does."""
    # SDK v2 writes a backslash before each quote, which no JSON has.
    text = parameters.get(_ACTION, "").replace('\\"', '"')
    found = []
    for entry in _entries(text):
        name = str(entry.get("name", "")).lower()
        if name == STOP_TRAINING:
            found.append(RuleAction(name=name, prefix=str(entry.get("training_job_prefix") or "")))
        elif name in _MESSAGES:
            found.append(RuleAction(name=name, endpoint=str(entry.get("endpoint") or "")))
    if _stops_stalled(parameters):
        found.append(RuleAction(name=STOP_TRAINING, prefix=parameters.get(_PREFIX, "")))
    return found


def without_actions(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters for the container. Those that cannot be read stay: the evaluator says what is wrong with them."""
    kept = dict(parameters)
    if _entries(kept.get(_ACTION, "").replace('\\"', '"')):
        del kept[_ACTION]
    if _stops_stalled(kept):
        kept[_STALLED] = "False"
    return kept


def job_to_stop(prefix: str, running: Sequence[str]) -> str | None:
    """The job whose name begins so; None if there is not exactly one, as the library decides."""
    matching = [name for name in running if name.lower().startswith(prefix.lower())]
    return matching[0] if len(matching) == 1 else None


def _stops_stalled(parameters: Mapping[str, str]) -> bool:
    return (
        parameters.get("rule_to_invoke") == "StalledTrainingRule"
        and parameters.get(_STALLED, "").strip().lower() == "true"
    )


def _entries(text: str) -> list[dict[str, Any]]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []
    entries = [document] if isinstance(document, dict) else document
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return []
    return [{str(key).lower(): value for key, value in entry.items()} for entry in entries]
