"""A debugger rule, as it is evaluated."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RulePlan:
    """One rule, which is evaluated by a container of its own."""

    name: str
    image: str | None
    """None for the evaluator image of smlocal."""
    parameters: Mapping[str, str]
    local_path: str
    """Where the container writes what it wants to keep."""
    source: str | None = None
    """The local file with the source of a custom rule, or its location in S3."""
    trials: tuple[str, ...] = ()
    """Local folders with the tensors of other jobs, or their locations in S3."""
    recorded: str = ""
    """The name of a built-in rule of the service that smlocal does not have."""
    unknown: str = ""
    """Why there is no such built-in rule, as a sentence."""

    @property
    def needs_evaluator(self) -> bool:
        """True if it runs in the evaluator image of smlocal."""
        return self.image is None and not self.recorded and not self.unknown


@dataclass(frozen=True, kw_only=True, slots=True)
class RulesPlan:
    """The debugger rules that are evaluated beside a job."""

    each: tuple[RulePlan, ...] = ()
    actions: Mapping[str, str] = field(default_factory=dict)
    """The actions when a rule finds an issue: `stop` or a command, by the name of the rule or `*`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleFacts:
    """The existing debugger rules, and the needs of a job's rules: custom sources, and tensors of other jobs."""

    paths: Mapping[str, str] = field(default_factory=dict)
    """The local path used instead of a location that a debugger rule asks for."""
    built_in: tuple[str, ...] = ()
    """Names of the debugger rules that smlocal has."""
    recorded: tuple[str, ...] = ()
    """Names of those that only the service has."""
