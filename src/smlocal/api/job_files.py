"""Job files of every kind: which one a document describes, and the job made from it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from smlocal.base.at_use import at_use
from smlocal.errors import DocumentUnknownError, PathNotAllowedError, SmlocalError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import AskedJob
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.kinds import ENDPOINT, PIPELINE, PROCESSING, TRAINING, TRANSFORM, TUNING
from smlocal.terms.validation.violation import closest
from smlocal.terms.validation.wording import shortened

if TYPE_CHECKING:
    from smlocal.ai_platform import shape
    from smlocal.engine.engines import Engines
    from smlocal.jobs.planning.model import RecordedPlan
    from smlocal.jobs.planning.workload import Workload
    from smlocal.jobs.prepared import PreparedPlan
    from smlocal.jobs.view import Reporter
    from smlocal.terms.compared_job import ComparedJob
else:
    shape = at_use("smlocal.ai_platform.shape")

_MOST_KEYS, _LONGEST_KEY = 5, 60
"""Of a document, in a message."""
_MOST_FOLDERS = 5
"""Allowed folders that a message names."""


class JobPlanner(Protocol):
    """The module that plans the jobs of a kind."""

    def prepare(
        self, job: Any, /, *, name: str, home: str, engines: "Engines", reporter: "Reporter", strict: bool
    ) -> "PreparedPlan":
        """Check everything that can be checked before a job is made. Mistakes are an error."""
        ...

    def plan_job(self, job: Any, /, *, name: str, home: str, engines: "Engines", strict: bool) -> "RecordedPlan":
        """Only the plan: no image is pulled, and missing GPUs are not an error."""
        ...


REPLICAS: Final = Kind(
    name="ai_platform",
    spoken="job of replicas",
    word="replicas",
    file="job.yaml",
    requests=("Job", "CustomJob"),
    sign="trainingInput",
    # Members of the other platform have a capital at the beginning.
    describes=lambda data: any(key[:1].islower() for key in data) and bool(shape.job_kinds(data)),
    reading="smlocal.ai_platform.jobfile.job_file",
)
"""Jobs of AI Platform Training, and custom jobs."""
KINDS: Final = (PROCESSING, TRANSFORM, TUNING, REPLICAS, ENDPOINT, PIPELINE, TRAINING)


def kind_of(data: Mapping[str, Any]) -> Kind:
    """The kind of job that a document describes, by its keys; a training job if nothing else."""
    return next(kind for kind in KINDS if kind.describes(data))


def _planning(job: AskedJob) -> JobPlanner:
    module: JobPlanner = kind_of(job.document.data).planning
    return module


def refuse_other_kinds(document: Document) -> None:
    """Refuse a document that describes anything but a training job, where only such a job can be taken."""
    kind = kind_of(document.data)
    if kind.refusal is not None:
        raise wrong_kind(document, kind, "a training job is needed here")


def refuse_to_run(document: Document) -> None:
    """Refuse a document that `smlocal run` does not start."""
    kind = kind_of(document.data)
    if kind.started_by != "run":
        raise wrong_kind(document, kind, f"smlocal {kind.started_by} takes it")


def wrong_kind(document: Document, kind: Kind, why: str, *more: str) -> SmlocalError:
    """The error about a document of the wrong kind, with the command that takes it."""
    wanted = kind.refusal or UsageRefusedError
    remedy = [f"{kind.started_by.capitalize()} it: {kind.start_command(file_named(document))}", *more]
    return wanted(f"{document.name} describes {kind.with_article}, and {why}", remedy=remedy)


def file_named(document: Document) -> str:
    """The file of a document, quoted for a shell; FILE if the document is not a file."""
    import shlex  # only for an error

    return shlex.quote(document.name) if os.path.isfile(document.name) else "FILE"


def refuse_unknown(document: Document) -> None:
    """Refuse a document none of whose keys any kind of job has, or only misspelt."""
    asked = [key for key in document.data if key != LOCAL]
    known = {name.casefold(): name for name in CreateTrainingJobRequest.__annotations__}
    if not asked or kind_of(document.data) is not TRAINING or any(key.casefold() in known for key in asked):
        return
    shape.refuse_misspelt_key(document)
    signs = {kind.sign: kind for kind in KINDS}
    meant = {key: closest(key, [*known.values(), *signs]) for key in asked}
    if not set(meant.values()).isdisjoint(known.values()):
        return  # the mistakes of a training job say more
    shown = [shortened(key, _LONGEST_KEY) for key in asked[:_MOST_KEYS]]
    more = [f"{len(asked) - _MOST_KEYS} more"] if len(asked) > _MOST_KEYS else []
    raise DocumentUnknownError(
        f"{document.name} describes no job: smlocal knows none of its keys ({', '.join([*shown, *more])})",
        details=[f"{document.where((key,))}   {key}: did you mean {sign}?" for key, sign in meant.items() if sign],
        remedy=[
            "A job file has one of these keys:",
            *(f"  {sign} ({kind.spoken})" for sign, kind in reversed(signs.items())),
            "smlocal init writes one.",
        ],
    )


def prepare(
    job: AskedJob, *, name: str, home: str, engines: "Engines", reporter: "Reporter", strict: bool
) -> "PreparedPlan":
    """Check everything that can be checked before a job is made. Mistakes are an error."""
    with _limited_by(job):
        return _planning(job).prepare(job, name=name, home=home, engines=engines, reporter=reporter, strict=strict)


def plan_job(job: AskedJob, *, name: str, home: str, engines: "Engines", strict: bool) -> "RecordedPlan":
    """Only the plan: no image is pulled, and missing GPUs are not an error."""
    with _limited_by(job):
        return _planning(job).plan_job(job, name=name, home=home, engines=engines, strict=strict)


def absent_paths(job: AskedJob) -> list[str]:
    """A line for each local path that the job reads and that is not there."""
    work = workload_of(job)
    if work is None:
        return []  # a folder for a bucket is made if it is not there
    from smlocal.jobs.planning.aspects.inputs.look import absent_paths as absent  # it loads the engine

    with _limited_by(job):
        return absent(work)


def workload_of(job: AskedJob) -> "Workload | None":
    """What the job needs of machines; None for kinds whose jobs are not one set of hosts."""
    kind = kind_of(job.document.data)
    if not kind.has_workload:
        return None
    work: Workload = kind.planning.workload_of(job)
    return work


def engines_of(job: AskedJob) -> "Engines":
    """The engines to ask before a job begins; of those in `Local.SpreadOver`, one that answers."""
    if job.local.SpreadOver:
        from smlocal.jobs.spreading import engines_to_look  # few jobs have some

        return engines_to_look(job.local, workload_of(job))
    from smlocal.engine.engines import engines_named

    return engines_named(job.local.Engines)


@contextmanager
def _limited_by(job: AskedJob) -> Iterator[None]:
    """Say of a path that the job may not use which setting in the user's own file limits it."""
    try:
        yield
    except PathNotAllowedError as error:
        setting = (LOCAL, "AllowedPaths")
        allowed = job.local.AllowedPaths or []
        shown = [*allowed[:_MOST_FOLDERS], *(["…"] if len(allowed) > _MOST_FOLDERS else [])]
        raise PathNotAllowedError(
            error.sentence,
            details=[f"{job.document.where(setting)}   Local.AllowedPaths allows {', '.join(shown) or 'none'}"],
            remedy=["Add the folder to Local.AllowedPaths, or name one that is in it."],
        ) from error


def replica_kind(data: Mapping[str, Any]) -> str:
    """The words for the job of replicas in a document, for sentences."""
    return shape.job_kind(data).spoken


def is_replica_answer(data: Mapping[str, Any]) -> bool:
    """True if a document of a job of replicas is what its platform answers; False for a request."""
    return shape.is_answer(data)


def replica_job_text(document: Document, *, file: str) -> str | None:
    """The job file of a job of replicas that its platform has described; None if the document is a job file."""
    from smlocal.ai_platform.jobfile.job_file import job_file_text

    return job_file_text(document, file=file)


def compared_replica_job(document: Document) -> "ComparedJob":
    """The members by which a job of replicas is compared: from a request, or from an answer."""
    from smlocal.ai_platform.comparison import compared_job

    return compared_job(document)
