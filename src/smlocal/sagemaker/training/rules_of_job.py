"""The debugger rules of a job: begun beside it, shown, and the actions when one of them finds an issue."""

import os
from collections.abc import Callable
from itertools import islice

from smlocal.base.files import remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.download_channel import download
from smlocal.data.sources.channel import list_prefix
from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.data.sources.s3.download import download_all
from smlocal.data.sources.s3.error_responses import FetchCancelledError
from smlocal.data.sources.s3.interface import S3Error
from smlocal.debugger import job_rules
from smlocal.debugger.job_rules import JobRules
from smlocal.debugger.rule_container import Evaluation
from smlocal.errors import SmlocalError, StagingError
from smlocal.jobs.control.requests import ask_to_stop
from smlocal.jobs.history import RULE_ACTION, STOP
from smlocal.jobs.kinds import JobContext
from smlocal.jobs.mirrored.folders import prepare_rule_tensors, rule_tensors
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.contract.outcome.reasons import RuleStatus
from smlocal.terms.listing import bucket_name, split_s3_uri
from smlocal.terms.rights import Rights

_GOOD = {RuleStatus.NO_ISSUES_FOUND, RuleStatus.STOPPING, RuleStatus.STOPPED}


@dataclass(frozen=True, kw_only=True, slots=True)
class RulesOfJob:
    """The rules that have begun."""

    job: str
    store: Store
    rules: JobRules

    def stops(self) -> int:
        """How often a stop was requested, not counting the actions of rules."""
        return stops_by_others(self.store, self.job)

    def finish(self, working: Callable[[str], None], cancelled: Callable[[], bool]) -> None:
        """Give the rules some time for the last tensors, then end them."""
        self.rules.finish(working, cancelled)

    def hints(self) -> list[str]:
        """What the rules could not read, and why."""
        disabled = self.rules.disabled_hook()
        return [] if disabled is None else [disabled.sentence]


def begin_rules(plan: JobPlan, context: JobContext, *, first: bool) -> RulesOfJob:
    """Begin them in a thread of their own. `first`: the job begins."""
    if first:
        prepare_rule_tensors(plan)

    def changed(rule: str, status: RuleStatus, result: Evaluation) -> None:
        detail = result.details.strip().partition("\n")[0]
        if status is RuleStatus.ISSUES_FOUND:
            detail = "" if result.step is None else f"at step {result.step}"
            detail += f" ({result.reason})" if result.reason else ""
        context.reporter.rule_changed(rule, status.value, detail, good=status in _GOOD)
        if status is RuleStatus.ISSUES_FOUND:
            _act(plan, context, rule, result)

    def fetch(uri: str, folder: str, cancelled: Callable[[], bool]) -> str:
        return fetch_rule_data(uri, folder, region=plan.identity.region, rights=plan.rights, cancelled=cancelled)

    rules = JobRules(
        plan=plan,
        engine=context.engine,
        store=context.store,
        tensors=rule_tensors(plan),
        created=context.created,
        changed=changed,
        fetch=fetch,
    )
    rules.begin()
    return RulesOfJob(job=plan.name, store=context.store, rules=rules)


def stops_by_others(store: Store, name: str) -> int:
    """How often a stop was requested, leaving out the actions of rules, which are recorded before they stop a job."""
    events = store.events(name)
    by_rules = [event.data for event in events if event.kind == RULE_ACTION and isinstance(event.data, dict)]
    stops_of_rules = [each for each in by_rules if each.get("TrainingJobName") == name]
    return max(sum(event.kind == STOP for event in events) - len(stops_of_rules), 0)


def _act(plan: JobPlan, context: JobContext, rule: str, result: Evaluation) -> None:
    """The actions of `Local.OnRule`."""
    document = {
        "TrainingJobName": plan.name,
        "TrainingJobArn": plan.identity.arn,
        "RuleConfigurationName": rule,
        "RuleEvaluationStatus": result.status.value,
        "StatusDetails": result.details,
        "Step": result.step,
    }
    action = job_rules.action_of(plan.rules.actions, rule)
    if action == job_rules.STOP:
        ask_to_stop(context.store, plan.name, grace=None)
    elif action is not None:
        job_rules.run_command(action, document, context.reporter.warning)


_END_MARKER = "training_job_end.ts"
_PAGE = 1000


def fetch_rule_data(uri: str, folder: str, *, region: str, rights: Rights, cancelled: Callable[[], bool]) -> str:
    """Download an object, or a folder with tensors, into `folder`, and return its path; or raise `StagingError`.

    The files in `folder` are removed.
    """
    try:
        remove_tree(folder)
        os.makedirs(folder)
        store = open_store(region, rights=rights)
        try:
            return _fetch(store.until(cancelled), uri, folder)
        finally:
            store.close()
    except FetchCancelledError:
        why = "it was stopped"
    except (S3Error, OSError) as error:
        why = str(error)
    except SmlocalError as error:
        why = " ".join([error.sentence, *error.details])
    raise StagingError(f"{uri} cannot be downloaded ({why}), and Local.Sources maps it to no local path")


def _fetch(store: S3Client, uri: str, folder: str) -> str:
    bucket_uri, key = split_s3_uri(uri)
    found = list(islice(store.list_objects(bucket_name(bucket_uri), key), _PAGE))
    file = next((each for each in found if each.key == key and not key.endswith("/")), None)
    if file is not None:
        path = f"{folder}/{os.path.basename(key)}"
        download_all(store, [(file, path)])
        return path
    listing = list_prefix(store, bucket_uri, key)
    if not listing.paths:
        raise StagingError("there is nothing")
    path = f"{folder}/tensors"
    download(listing, path, draft=f"{path}.draft", store=store, progress=lambda _: None)
    # The copy does not grow: without the marker, a rule would wait for more steps for ever.
    with open(f"{path}/{_END_MARKER}", "ab"):
        pass
    return path
