"""From a validated training job to its plan, and what is recorded of one that another process will start."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.engine.engines import Engines
from smlocal.jobfile.document import recorded_document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs import looking
from smlocal.jobs.documents import STRICT
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.planning.aspects.output.plan import model_uri
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.contract.requested import host_count
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.place import arn_of, check_host_count, pinned, place_of
from smlocal.sagemaker.simulated import check_capacity, refuse_above_limit
from smlocal.sagemaker.training.facts import IN_ARN, NAME
from smlocal.sagemaker.training.plan import build_plan
from smlocal.sagemaker.training.workload import workload_of

if TYPE_CHECKING:
    from smlocal.jobs.submission.scheduler import WaitingJob
else:
    WaitingJob = at_use("smlocal.jobs.submission.scheduler", "WaitingJob")


def prepare(
    job: JobFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,
    run_id: str | None = None,
) -> Prepared:
    """Check everything that can be checked before the job is made. Mistakes are an error.

    `run_id`: of a job that is already recorded.
    """
    check_host_count(requested_hosts(job), most=job.local.MaxHosts)
    work = workload_of(job)
    if run_id is None:
        refuse_above_limit(work)
    place = place_of(work, name=name, home=home, engines=engines, run_id=run_id)
    prepared = looking.prepare(
        work,
        place,
        partial(build_plan, job, work, name=name),
        reporter=reporter,
        strict=strict,
        job=job.document.record(),
    )
    if any(rule.needs_evaluator for rule in prepared.plan.rules.each):
        from smlocal.debugger.evaluator import see_to_evaluator  # few jobs have rules

        see_to_evaluator(engines.first, reporter.progress, reporter.working)
    return prepared


def read_recorded(recorded: Mapping[str, Any]) -> JobFile:
    """The job file of a job that was recorded and never begun."""
    job = read_job(recorded_document(recorded), strict=bool(recorded.get(STRICT)))
    check_capacity(job)
    return job


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:
    """The plan of a recorded job, with its inputs as they are now."""
    job = read_job(recorded_document(recorded), strict=False)
    work = workload_of(job)
    place = place_of(work, name=old.name, home=home, engines=engines, run_id=old.run_id)
    return looking.plan_again(work, place, partial(build_plan, job, work, name=old.name), old)


def plan_job(job: JobFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: no image is pulled, and missing GPUs or Neuron devices are not an error."""
    check_host_count(requested_hosts(job), most=None)
    work = workload_of(job)
    place = place_of(work, name=name, home=home, engines=engines)
    return looking.only_plan(work, place, partial(build_plan, job, work, name=name), strict=strict)


def requested_hosts(job: JobFile) -> int:
    """The number of hosts."""
    resources = job.request.ResourceConfig
    return 1 if resources is None else host_count(resources)


def waiting_job(job: JobFile, name: str, *, strict: bool = False) -> WaitingJob:
    """What is recorded of a validated job. Faults that refuse its creation are an error."""
    work = workload_of(job)
    refuse_above_limit(work)
    document, output = job.document, output_folder(work)
    local = {**(document.data.get(LOCAL) or {}), **pinned(work, output)}
    return WaitingJob(
        platform=NAME,
        arn=arn_of(work, IN_ARN, name),
        model_uri=model_uri(work.output, output, name),
        request={"TrainingJobName": name, **job.raw},
        job={**document.record(), "Data": {**document.data, LOCAL: local}, STRICT: strict},
        instances=len(work.hosts),
        needs=((work.hosts[0].instance_type, len(work.hosts)),),
    )
