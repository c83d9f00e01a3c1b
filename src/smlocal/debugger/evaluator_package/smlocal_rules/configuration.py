"""The configuration of an evaluation: a JSON document that smlocal writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smlocal_rules.failures import UnknownRuleError

_RULE_TO_INVOKE = "rule_to_invoke"
_ACTION = "action_json"
_NO_ARGUMENTS = frozenset({_RULE_TO_INVOKE, _ACTION, "source_s3_uri", "base_trial", "other_trials"})
"""Parameters that are for the evaluation, not for the rule."""
_OTHER_TRIAL = "other_trial_"


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """One rule and the tensors that it looks at."""

    name: str
    parameters: Mapping[str, str]
    """RuleParameters of the request."""
    tensors_path: str
    other_trials: tuple[str, ...]
    source_path: str | None
    """The source of a custom rule."""
    result_path: str
    job_name: str
    endpoint_socket: str | None = None
    """Where calls of AWS are answered, if the rule has actions."""

    @classmethod
    def read(cls, path: str) -> "Configuration":
        """The configuration in a file."""
        with open(path, encoding="utf-8") as file:
            document: dict[str, Any] = json.load(file)
        return cls(
            name=document["RuleConfigurationName"],
            parameters=document.get("RuleParameters") or {},
            tensors_path=document["TensorsPath"],
            other_trials=tuple(document.get("OtherTrials") or ()),
            source_path=document.get("SourcePath"),
            result_path=document["ResultPath"],
            job_name=document["JobName"],
            endpoint_socket=document.get("EndpointSocket"),
        )

    @property
    def rule_to_invoke(self) -> str:
        """The name of the class."""
        try:
            return self.parameters[_RULE_TO_INVOKE]
        except KeyError:
            text = f"RuleParameters of {self.name} has no {_RULE_TO_INVOKE}: name the class of the rule there."
            raise UnknownRuleError(text) from None

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of the rule itself."""
        return {
            key: value
            for key, value in self.parameters.items()
            if key not in _NO_ARGUMENTS and not key.startswith(_OTHER_TRIAL)
        }

    @property
    def action(self) -> str:
        """The actions of the rule, as the API has them."""
        return self.parameters.get(_ACTION, "")
