"""A debugger rule, as it is evaluated."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts
from smlocal.jobs.planning.workload import AskedRule
from smlocal.terms.validation.violation import closest


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


SOURCE = "source_s3_uri"
INVOKED = "rule_to_invoke"
_RULE_PATH = "/opt/ml/processing/output/rule"
_OF_AWS = {"sagemaker-debugger-rules", "sagemaker-debugger-rule-evaluator"}
"""Images that are closed, and are replaced by ours."""


def rules_of(rules: Sequence[AskedRule], local: LocalSettings, engines: EnginesFacts, facts: RuleFacts) -> RulesPlan:
    """The rules that are evaluated here; none if tensors come at the end only, or from several engines."""
    if not local.Rules or not engines.first.shares_folders or engines.shares:
        return RulesPlan(actions=dict(local.OnRule))
    return RulesPlan(each=tuple(_rule(each, facts) for each in rules), actions=dict(local.OnRule))


def is_image_of_aws(image: str) -> bool:
    """True for the evaluator images of AWS."""
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0] in _OF_AWS


def rule_locations(parameters: Mapping[str, str]) -> list[str]:
    """The locations among the parameters of a rule: its source, and the tensors of other jobs by their number."""
    others = sorted(
        (int(key.removeprefix("other_trial_")), value)
        for key, value in parameters.items()
        if re.fullmatch("other_trial_[0-9]{1,3}", key)
    )
    return [*([parameters[SOURCE]] if parameters.get(SOURCE) else []), *(value for _, value in others)]


def _rule(rule: AskedRule, facts: RuleFacts) -> RulePlan:
    parameters = rule.parameters
    locations, source = rule_locations(parameters), parameters.get(SOURCE) or None
    image = None if is_image_of_aws(rule.image) else rule.image
    built_in = parameters.get(INVOKED, "") if image is None and source is None else None
    return RulePlan(
        name=rule.name,
        image=image,
        parameters=dict(parameters),
        local_path=(rule.local_path or _RULE_PATH).rstrip("/"),
        source=None if source is None else facts.paths.get(source, source),
        trials=tuple(facts.paths.get(uri, uri) for uri in locations[source is not None :]),
        recorded=built_in if built_in in facts.recorded else "",
        unknown="" if built_in is None else _why_unknown(built_in, facts),
    )


def _why_unknown(name: str, facts: RuleFacts) -> str:
    if name in facts.built_in or name in facts.recorded:
        return ""
    if not name:
        return f"RuleParameters has no {INVOKED}, the name of a rule"
    meant = closest(name, facts.built_in)
    return f"there is no built-in rule {name}{f'. Did you mean {meant}?' if meant else ''}"
