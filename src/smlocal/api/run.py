"""`smlocal.run` and `smlocal.plan`."""

from typing import TYPE_CHECKING, Unpack, cast

from smlocal.api.job_files import engines_of, plan_job, workload_of
from smlocal.api.job_source import JobSource, read_source
from smlocal.api.keywords import RUN_SWITCHES, check_keywords
from smlocal.api.overrides import Overrides
from smlocal.jobs.store.home import home_directory

if TYPE_CHECKING:
    from smlocal.api.training_job import TrainingJob
    from smlocal.engine.engines import Engines
    from smlocal.jobfile.job_reading import AskedJob
    from smlocal.jobs.planning.model import JobPlan, RecordedPlan


def run(
    job: JobSource | None = None,
    *,
    detach: bool = False,
    replace: bool = False,
    show: bool = False,
    strict: bool = False,
    **overrides: Unpack[Overrides],
) -> "TrainingJob":
    """Run a job to its end, as `smlocal run` does.

    `job` is a job file, a CreateTrainingJob request as a dict, or nothing: then `image=` describes the job. Keywords
    override it. A job that fails or is stopped raises nothing: look at `status`. A refused request, or a machine
    that is not ready, is an error of `smlocal.errors`, and no job is made.

    `detach` returns as soon as the job has its supervisor, a process of its own. `replace` forgets a finished job of
    the same name. `show` prints phases and the containers' output to `sys.stdout`. `strict` accepts only what the
    service accepts.

    KeyboardInterrupt stops the job as `smlocal stop` does, a second one kills it; it is raised once the job has ended.
    """
    from smlocal.api import run_job, training_job  # with everything that runs a job

    check_keywords(overrides, others=RUN_SWITCHES)
    asked, name = read_source(job, overrides, strict=strict)
    run_job.run_job(asked, name, detach=detach, replace=replace, show=show, strict=strict)
    return training_job.TrainingJob(name)


def plan(job: JobSource | None = None, *, strict: bool = False, **overrides: Unpack[Overrides]) -> "JobPlan":
    """The plan of a `run`: the object that it would execute. Nothing is run or pulled.

    That of a tuning job, which has no container, has only what a `RecordedPlan` has.
    """
    check_keywords(overrides, others=["strict"])
    asked, name = read_source(job, overrides, strict=strict, to_run=False)
    return cast("JobPlan", plan_only(asked, name=name, strict=strict))


def plan_only(job: "AskedJob", *, name: str, strict: bool) -> "RecordedPlan":
    """The plan of a validated job. Nothing is run or pulled, and no job is made."""

    def planned(engines: "Engines") -> "RecordedPlan":
        return plan_job(job, name=name, home=home_directory(), engines=engines, strict=strict)

    if not job.local.SpreadOver:
        return planned(engines_of(job))
    from smlocal.jobs.spreading import looked_at  # few jobs have some

    return looked_at(planned, workload_of(job), job.local)
