"""The views of debugger rules: a row for each, documents, notes."""

from typing import Any

from smlocal.base.readable import short_path
from smlocal.jobs.planning.aspects.rules.plan import INVOKED, RulePlan
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.jobs.planning.workload import Workload


def rule_text(rule: RulePlan) -> str:
    """A debugger rule, and its evaluator beside the job."""
    invoked = rule.parameters.get(INVOKED, "")
    if rule.image is not None:
        return f"{rule.name}: the image {rule.image}"
    if rule.source is not None:
        source = rule.source if rule.source.startswith("s3://") else short_path(rule.source)
        return f"{rule.name}: {invoked} of {source}"
    return f"{rule.name}: {invoked}, {'not evaluated' if rule.recorded or rule.unknown else 'built in'}"


def rule_documents(plan: JobPlan) -> list[dict[str, Any]]:
    """The rules in the document of a plan."""
    return [
        {
            "RuleConfigurationName": each.name,
            "Image": each.image,
            "Source": each.source,
            "OtherTrials": list(each.trials),
            "Recorded": bool(each.recorded or each.unknown),
        }
        for each in plan.rules.each
    ]


def _rules_hook(plan: JobPlan, work: Workload) -> str | None:
    if not plan.rules.each or any(each.end_marker is not None for each in plan.mirrored.collectors):
        return None
    return "the job saves no tensors for its debugger rules: it has no DebugHookConfig"


def _rules_unknown(plan: JobPlan, work: Workload) -> str | None:
    return "; ".join(f"{rule.name}: {rule.unknown}" for rule in plan.rules.each if rule.unknown) or None


def _rules_action(plan: JobPlan, work: Workload) -> str | None:
    named = {rule.name for rule in work.rules}
    unknown = [name for name in plan.rules.actions if name != "*" and name not in named]
    return f"Local.OnRule names rules that the job does not have: {some(unknown)}" if unknown else None


def _why_no_rules(plan: JobPlan, work: Workload) -> str:
    if not work.local.Rules:
        return "Local.Rules is false"
    return (
        "the job has several engines" if plan.engines.several else "the engine does not see the folders of this machine"
    )


def _rules(plan: JobPlan, work: Workload) -> str | None:
    said = []
    if work.rules and not plan.rules.each:
        said.append(f"debugger rules are recorded, not evaluated: {_why_no_rules(plan, work)}")
    if any(rule.needs_evaluator for rule in plan.rules.each):
        said.append(
            "the images of AWS that evaluate debugger rules are closed: smlocal evaluates them with rules of its "
            "own, made from their documentation"
        )
    if recorded := [rule.recorded for rule in plan.rules.each if rule.recorded]:
        said.append(f"built-in rules that are recorded, not evaluated: {', '.join(recorded)}")
    if plan.request.get("ProfilerRuleConfigurations"):
        said.append("profiler rules are recorded, not evaluated")
    return "; ".join(said) or None


RULE_RULES = (
    NoteRule(id="rules-hook", says=_rules_hook, warning=True),
    NoteRule(id="rules-unknown", says=_rules_unknown, warning=True),
    NoteRule(id="rules-action", says=_rules_action, warning=True),
    NoteRule(id="rules", says=_rules),
)
