"""The debugger rules of a job: begun beside it, shown, and what follows when one of them finds an issue."""

from collections.abc import Mapping

from smlocal.contract.outcome.rule_statuses import RuleStatus
from smlocal.debugger.job_rules import JobRules
from smlocal.debugger.on_rule import STOP, action_of, run_command
from smlocal.debugger.rule_actions import STOP_TRAINING, RuleAction, actions_of, job_to_stop
from smlocal.debugger.rule_result import RuleResult
from smlocal.job.context import Context
from smlocal.job.control.requests import ask_to_stop
from smlocal.job.event_kinds import RULE_ACTION
from smlocal.job.mirrored.rule_tensors import prepare_rule_tensors, rule_tensors
from smlocal.planning.model import JobPlan

_GOOD = {RuleStatus.NO_ISSUES_FOUND, RuleStatus.STOPPING, RuleStatus.STOPPED}


def begin_rules(plan: JobPlan, context: Context, *, first: bool) -> JobRules:
    """Begin them in a thread of their own. `first`: the job begins."""
    if first:
        prepare_rule_tensors(plan)

    def changed(rule: str, status: RuleStatus, result: RuleResult) -> None:
        detail = result.details.strip().partition("\n")[0]
        if status is RuleStatus.ISSUES_FOUND:
            detail = "" if result.step is None else f"at step {result.step}"
            detail += f" ({result.reason})" if result.reason else ""
        context.reporter.rule_changed(rule, status.value, detail, good=status in _GOOD)
        if status is RuleStatus.ISSUES_FOUND:
            _act(plan, context, rule, result)

    rules = JobRules(
        plan=plan,
        engine=context.engine,
        store=context.store,
        tensors=rule_tensors(plan),
        created=context.created,
        changed=changed,
    )
    rules.begin()
    return rules


def _act(plan: JobPlan, context: Context, rule: str, result: RuleResult) -> None:
    """What the rule asks for itself, then what `Local.OnRule` says."""
    document = {
        "TrainingJobName": plan.name,
        "TrainingJobArn": plan.arn,
        "RuleConfigurationName": rule,
        "RuleEvaluationStatus": result.status.value,
        "StatusDetails": result.details,
        "Step": result.step,
    }
    for asked in _asked(plan, rule):
        _carry_out(asked, plan, context, document)
    action = action_of(plan.on_rule, rule)
    if action == STOP:
        ask_to_stop(context.store, plan.name, grace=None)
    elif action is not None:
        run_command(action, document, context.reporter.warning)


def _asked(plan: JobPlan, rule: str) -> list[RuleAction]:
    """An image of the user's own carries out its actions itself."""
    (planned,) = (each for each in plan.rules if each.name == rule)
    return actions_of(planned.parameters) if planned.image is None else []


def _carry_out(action: RuleAction, plan: JobPlan, context: Context, document: Mapping[str, object]) -> None:
    done: dict[str, object] = {"Action": action.name, "RuleConfigurationName": document["RuleConfigurationName"]}
    if action.name == STOP_TRAINING:
        running = [record.name for record in context.store.unfinished() if not record.pending]
        name = job_to_stop(action.prefix or plan.name, running)
        done["TrainingJobName"] = name
        if name is None:
            rule = document["RuleConfigurationName"]
            context.reporter.warning(f"{rule} stops no job: not exactly one that runs begins with {action.prefix}")
    else:
        done |= {"Endpoint": action.endpoint, "Subject": f"SMDebugRule:{document['RuleConfigurationName']} fired"}
        done["Message"] = document["StatusDetails"]
    context.record(RULE_ACTION, done)  # before a stop, which may end this job
    if done.get("TrainingJobName"):
        ask_to_stop(context.store, str(done["TrainingJobName"]), grace=None)
