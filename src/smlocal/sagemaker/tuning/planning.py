"""From a validated tuning job to its plan: what one of its training jobs needs, without a container of its own.

It also makes the notes, and records a job that another process will start.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.engine.engines import Engines
from smlocal.errors.of_jobs import WarmStartError
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import SERVE_PROGRAM
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.planning.model import IdentityPlan, JobPlan, Note, RecordedPlan
from smlocal.jobs.prepared import PreparedPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.submission.scheduler import WaitingJob
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.contract.identity import sagemaker_arn
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.place import arn_of, pinned
from smlocal.sagemaker.training import planning as training
from smlocal.sagemaker.training.workload import workload_of
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.program_files import unread
from smlocal.sagemaker.tuning.search import SearchPlan, first_points
from smlocal.sagemaker.tuning.stopping import CONVERGED_AFTER
from smlocal.sagemaker.tuning.trial_jobs import local_of, training_job
from smlocal.sagemaker.tuning.tuning_file import TuningFile
from smlocal.sagemaker.tuning.warm_start import earlier_of

if TYPE_CHECKING:
    from smlocal.jobs.spreading import engine_of_sample
else:
    engine_of_sample = at_use("smlocal.jobs.spreading", "engine_of_sample")

_NOTE_OF_STRATEGY: Final = {
    "Grid": "every combination runs once, as on the service; their order is smlocal's",
    "Random": "points are drawn at random with the scalings of the service, but the numbers differ",
    "Hyperband": "Hyperband is the published algorithm, with asynchronous promotion; the service's variant is not "
    "published",
    "Bayesian": "points are chosen by Optuna (TPE); the service's Bayesian search is not published and chooses others",
}
_NOTE_OF_DIRECTIONS: Final = (
    "some definitions maximize and some minimize: values to maximize count with their signs turned around; how the "
    "service compares them is not published"
)
_NOTES_OF_A_NAME: Final = frozenset({"relaxed-name"})
"""Notes of training jobs that say nothing about those of a tuning job."""


def prepare(
    file: TuningFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,  # noqa: ARG001 - the same for all kinds; reading the file was strict already
    run_id: str | None = None,
) -> PreparedPlan:
    """Check everything that would stop its training jobs, with one of each definition. What is wrong is an error."""
    _check_parents(file, home, name)
    if file.plan(name).strategy == "Bayesian":
        from smlocal.sagemaker.tuning.bayesian import load_library  # an extra

        load_library()
    prepared = [
        training.prepare(
            job := training_job(file, index, _sample(file, index)),
            name=facts.child_name(name, 1, "00000000"),
            home=home,
            engines=engine_of_sample(workload_of(job), engines, reporter) if job.local.SpreadOver else engines,
            reporter=reporter,
            strict=False,
        )
        for index in range(len(file.definitions))
    ]
    plan = _plan(file, [each.plan for each in prepared], name=name, home=home, run_id=run_id)
    return PreparedPlan(plan=plan, job=_pinned(file, plan, prepared[0].plan.output.uri))


def plan_job(file: TuningFile, *, name: str, home: str, engines: Engines, strict: bool) -> RecordedPlan:  # noqa: ARG001 - as above
    """Only the plan: no image is pulled."""
    _check_parents(file, home, name)
    first = facts.child_name(name, 1, "00000000")
    plans = [
        training.plan_job(
            training_job(file, index, _sample(file, index)), name=first, home=home, engines=engines, strict=False
        )
        for index in range(len(file.definitions))
    ]
    return _plan(file, plans, name=name, home=home, run_id=None)


def _sample(file: TuningFile, definition: int) -> dict[str, str]:
    """A point of a definition."""
    return {each.name: each.at(0.0) for each in file.definitions[definition].search.ranges}


def _check_parents(file: TuningFile, home: str, name: str) -> None:
    if name in file.parents:
        raise WarmStartError(
            f"the tuning job '{name}' cannot start from itself", remedy=["Give it another name than its parent's."]
        )
    if file.parents:
        with Store.open(home) as store:
            earlier_of(file, store)


def _plan(file: TuningFile, plans: Sequence[JobPlan], *, name: str, home: str, run_id: str | None) -> RecordedPlan:
    """`plans`: of a training job of each definition."""
    first = plans[0]
    region, account, engine = first.identity.region, first.identity.account, first.engines.first
    return RecordedPlan(
        platform=facts.NAME,
        name=name,
        run_id=run_id or os.urandom(4).hex(),
        job_directory=os.path.join(home, "jobs", name),
        request={"HyperParameterTuningJobName": name, **file.raw},
        rights=first.rights,
        identity=IdentityPlan(
            arn=sagemaker_arn(facts.IN_ARN, name, region=region, account=account), region=region, account=account
        ),
        notes=notes([*_warnings(file, plans), *(note for each in plans for note in each.notes)], file),
        details={
            "Image": {"Name": first.image.name, "Id": first.image.facts and first.image.facts.id},
            SERVE_PROGRAM: first.image.facts.serve_program if first.image.facts is not None else "",
            "Engine": {"Address": engine.address, "Version": engine.version},
            "Output": os.path.join(os.path.dirname(first.output.directory), name),
        },
    )


def _pinned(file: TuningFile, plan: RecordedPlan, output: str) -> dict[str, Any]:
    """The job file, with what depends on the environment and the folder of the command."""
    local = {**(file.document.data.get(LOCAL) or {}), "Region": plan.identity.region}
    if output.startswith(("s3://", "https://")):
        local["Output"] = os.path.dirname(plan.details["Output"])
    return _record(file, local)


def _record(file: TuningFile, local: Mapping[str, Any]) -> dict[str, Any]:
    """The document for another process, which does not know what flags have set."""
    record = {**file.document.record(), "Data": {**file.document.data, LOCAL: local}}
    parts = file.document.local_of_parts
    return {**record, "LocalOfParts": [local_of(file, index) for index in range(len(parts))]} if parts else record


def first_training_job(file: TuningFile) -> JobFile:
    """A training job of its first definition, with a point of the ranges."""
    return training_job(file, 0, _sample(file, 0))


def first_trials(file: TuningFile, name: str, count: int) -> list[tuple[str | None, dict[str, str]]]:
    """The first points, each with the name of its definition; none if the strategy learns from results."""
    plan = file.plan(name)
    if plan.strategy == "Bayesian":
        return []
    return [(file.definitions[each.definition].name, each.tuned) for each in first_points(plan, count)]


def notes(of_training: Sequence[Note], file: TuningFile) -> tuple[Note, ...]:
    """The notes of the training jobs, and those of the search."""
    found = [note for note in dict.fromkeys(of_training) if note.id not in _NOTES_OF_A_NAME]
    found += [Note(id=name, text=text) for name, text in _own_notes(file)]
    return tuple(sorted(found, key=lambda note: not note.warning))


def _own_notes(file: TuningFile) -> Iterator[tuple[str, str]]:
    config = file.raw["HyperParameterTuningJobConfig"]
    plan = file.plan("")
    yield "tuning-strategy", _NOTE_OF_STRATEGY[plan.strategy]
    where = "these machines" if file.local.SpreadOver else "this machine"
    yield "tuning-parallel", f"training jobs that run at once share {where}, so each is slower than alone"
    if "HyperParameterTuningJobName" not in file.raw:
        yield "relaxed-tuning-name", "HyperParameterTuningJobName is missing; the service requires it"
    if any(each.scaling == "Auto" and each.kind != "Categorical" for part in plan.definitions for each in part.ranges):
        yield (
            "tuning-scaling",
            "ScalingType Auto is logarithmic for wide positive ranges, else linear; the service may differ",
        )
    if plan.early:
        yield (
            "tuning-early-stopping",
            "early stopping is by the median rule of the developer guide, from the second job",
        )
    if plan.until_converged:
        converged = f"the search has converged after {CONVERGED_AFTER} training jobs without an improvement of over 1 %"
        yield "tuning-convergence", f"{converged}; the service's rule is not published"
    if len(plan.definitions) > 1:
        yield "tuning-definitions", "training jobs go to the definitions in turn; the service's choice is not published"
        if plan.early:
            yield "tuning-early-definitions", "the developer guide has early stopping for a single algorithm only"
        if len({each.objective.direction for each in plan.definitions}) > 1:
            yield "tuning-directions", _NOTE_OF_DIRECTIONS
    yield from _quotas(plan)
    if config.get("RandomSeed") is None and plan.strategy != "Grid":
        yield "tuning-seed", "without RandomSeed the points follow from the name; on the service they differ each time"


def _warnings(file: TuningFile, plans: Sequence[JobPlan]) -> Iterator[Note]:
    for text in unread(file, plans):
        yield Note(id="tuning-unread", text=text, warning=True)
    plan = file.plan("")
    if plan.parallel > plan.most:
        jobs = f"{plan.most:,} training job{'s' * (plan.most != 1)}"
        text = f"MaxParallelTrainingJobs is {plan.parallel:,}, and there are at most {jobs}"
        yield Note(id="tuning-idle-parallel", text=text, warning=True)


def _quotas(plan: SearchPlan) -> Iterator[tuple[str, str]]:
    if plan.most > facts.QUOTA_JOBS:
        above = f"{plan.most:,} training jobs are above the service's quota of {facts.QUOTA_JOBS}"
        fixed = f" for {plan.strategy}, which cannot be raised: the service refuses them"
        raised = f", which can be raised to {facts.MOST_JOBS:,}"
        yield "tuning-quota", f"{above}{raised if plan.strategy == 'Random' else fixed}"
    if plan.parallel > facts.QUOTA_PARALLEL:
        above = f"{plan.parallel:,} training jobs at once are above the service's quota of {facts.QUOTA_PARALLEL}"
        more = f", which can be raised to {facts.RAISED_PARALLEL}"
        refused = ": the service refuses them" if plan.parallel > facts.RAISED_PARALLEL else ""
        yield "tuning-parallel-quota", f"{above}{more}{refused}"


def waiting_job(file: TuningFile, name: str) -> WaitingJob:
    """What is recorded of a validated tuning job. Its training jobs count, and it does not."""
    jobs = [training_job(file, index, _sample(file, index)) for index in range(len(file.definitions))]
    each = [workload_of(job) for job in jobs]
    local = {**(file.document.data.get(LOCAL) or {}), **pinned(each[0], output_folder(each[0]))}
    return WaitingJob(
        platform=facts.NAME,
        arn=arn_of(each[0], facts.IN_ARN, name),
        request={"HyperParameterTuningJobName": name, **file.raw},
        job=_record(file, local),
        needs=tuple((work.hosts[0].instance_type, len(work.hosts)) for work in each),
        leads=True,
    )
