"""The debugger's results for a job: its rules, as `smlocal rules` shows them, and its tensors."""

import os
from typing import Any

from smlocal.errors.of_commands import NoDebugHookError, TensorsInS3Error, TensorsMissingError
from smlocal.jobs.documents import PLAN, REQUEST
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.history import RULE_ACTION
from smlocal.jobs.kinds import spoken_of
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.contract.outcome.reasons import RULES
from smlocal.sagemaker.tensor_place import DEBUG_HOOK, tensor_place
from smlocal.sagemaker.training.facts import NAME

_HOOK = "The script must create a hook of smdebug: smlocal help debugger."


def actions_of_rules(name: str) -> list[dict[str, Any]]:
    """The actions that the rules of a job have asked for, oldest first. Messages are kept here and not sent."""
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


def tensor_folder(name: str) -> str:
    """The folder that the tensors of a job are mirrored to; an error if it has none on this machine."""
    with Store.open(home_directory()) as store:
        stored = store.read(name, (REQUEST, PLAN))
        directory = store.directory(name)
    if not stored.documents[REQUEST].get(DEBUG_HOOK):
        says = spoken_of(stored.record)
        remedy = [_HOOK] if stored.record.platform == NAME else []
        raise NoDebugHookError(f"the job {name} {says.no_tensors}", remedy=remedy)
    place = tensor_place(stored.documents.get(PLAN) or {}, directory)
    if place is None:
        raise TensorsMissingError(f"the job {name} has no tensors yet: it has not begun")
    if os.path.isdir(place.folder):
        return place.folder
    if place.s3_prefix is not None:
        raise TensorsInS3Error(
            f"the tensors of the job {name} are in S3",
            remedy=[f"aws s3 sync {place.s3_prefix} ./tensors", "smlocal tensors ./tensors"],
        )
    raise TensorsMissingError(
        f"the job {name} has no tensors{'' if stored.record.status.terminal else ' yet'}",
        details=[f"There is no folder {place.folder}."],
        remedy=[_HOOK],
    )
