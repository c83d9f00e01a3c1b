"""The debugger rules of a job, as `smlocal rules` shows them."""

from typing import Any

from smlocal.job.event_kinds import RULE_ACTION
from smlocal.job.finish.describe import describe_job
from smlocal.platforms.sagemaker.contract.outcome.rule_statuses import RULES
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store


def actions_of_rules(name: str) -> list[dict[str, Any]]:
    """What the rules of a job have asked for, oldest first. Messages are kept here and sent to nobody."""
    with Store.open(home_directory()) as store:
        events = [
            (event.at, event.data)
            for event in store.events(name)
            if event.kind == RULE_ACTION and isinstance(event.data, dict)
        ]
    return [{**{key: value for key, value in data.items() if key != "By"}, "Time": at} for at, data in events]


def rules_of_job(name: str) -> tuple[list[dict[str, Any]], bool]:
    """The entries of `DebugRuleEvaluationStatuses`, with step and reason where known; and whether the job has ended."""
    with Store.open(home_directory()) as store:
        over = store.get(name).status.terminal  # first: nothing changes after the end
        shown = describe_job(store, name, service=True).get("DebugRuleEvaluationStatuses", ())
        stored = {each["RuleConfigurationName"]: each for each in store.document(name, RULES) or ()}
    more = ("Step", "Reason")
    known = [stored.get(each["RuleConfigurationName"], {}) for each in shown]
    return [
        {**each, **{key: entry[key] for key in more if key in entry}} for each, entry in zip(shown, known, strict=True)
    ], over
