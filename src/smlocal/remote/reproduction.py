"""A job of the service, run here: the request for the run, and the two ends."""

import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import TYPE_CHECKING, Any

from smlocal.errors import ServiceJobRunningError, UsageRefusedError
from smlocal.platforms.sagemaker.contract.identity import default_name
from smlocal.quick_dataclass import dataclass
from smlocal.remote.answer_shape import check_shape
from smlocal.remote.described_job import DescribedJob
from smlocal.remote.elsewhere import elsewhere
from smlocal.remote.explanations import Explanation, explanations
from smlocal.remote.job_end import ENDED, JobEnd, LogEnd, end_of, log_of_answer
from smlocal.remote.normalised_reason import normalised_reason
from smlocal.remote.verdict import Verdict, judge

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document


@dataclass(frozen=True, kw_only=True, slots=True)
class Reproduction:
    """What came of the run."""

    there: JobEnd
    here: JobEnd
    sample: int | None
    """Local.Sample of the run."""
    verdict: Verdict
    explanations: Sequence[Explanation] = ()
    """What may explain that it is not reproduced."""
    next: str | None = None
    """The command that follows."""


def check_ended(job: DescribedJob, *, file: str | None) -> None:
    """Refuse what has no end that a run here could have too."""
    if job.answer is None:
        raise UsageRefusedError(
            f"{file or job.name} is a request and does not say how a job ended",
            remedy=[f"Run it:  smlocal run {file or job.name}"],
        )
    check_shape(job.answer, name=file or job.name)
    if job.status in ENDED:
        return
    if not job.status:
        raise UsageRefusedError(f"the description of {job.name} has no TrainingJobStatus")
    raise ServiceJobRunningError(
        f"the job {job.name} is still {job.status}" + (f" in {file}" if file else ""),
        remedy=[
            f"Wait for it:  aws sagemaker wait training-job-completed-or-stopped --training-job-name {job.name}",
            *(["Then save its description again."] if file else []),
        ],
    )


def document_for(
    job: DescribedJob, *, directory: str | None, sample: int | None, allow_local_paths: bool = False
) -> "Document":
    """The job file of the run. Relative paths start in `directory`."""
    from smlocal.jobfile.document import Document

    settings: dict[str, Any] = {
        **({"Region": job.region} if job.region else {}),
        **job.local,
        **({"Sample": sample} if sample is not None else {}),
    }
    data = {**deepcopy(job.request), "TrainingJobName": default_name(job.name, datetime.now().astimezone())}
    document = Document(
        {**data, **({"Local": settings} if settings else {})},
        name=f"the request of {job.name}",
        directory=directory or os.getcwd(),
    )
    document.elsewhere = elsewhere(job, allow_local_paths=allow_local_paths)
    return document


def reproduction(
    job: DescribedJob, run: Mapping[str, Any], answer: Mapping[str, Any], log_there: Callable[[str], LogEnd]
) -> Reproduction:
    """What came of the run with this request and `Local` block. `log_there` reads the log of a host on the service."""
    here = end_of(answer, log_of_answer(answer))
    there = end_of(job.answer or {}, log_there(here.host))
    sample = (run.get("Local") or {}).get("Sample")
    verdict = judge(there, here, sampled=sample is not None)
    found = () if verdict.reproduced else explanations(job, run, there, here)
    return Reproduction(there=there, here=here, sample=sample, verdict=verdict, explanations=found)


def reproduction_document(found: Reproduction) -> dict[str, Any]:
    """What `smlocal reproduce --json` prints."""
    names = (found.there.name, found.here.name)
    return {
        "Version": 1,
        "Reproduced": found.verdict.reproduced,
        "Sentence": found.verdict.sentence,
        "Sample": found.sample,
        "Explanations": [{"Text": each.text, "Option": each.option or None} for each in found.explanations],
        "Next": found.next,
        "There": _end(found.there, names, found.here.host),
        "Here": _end(found.here, names, found.here.host),
    }


def _end(end: JobEnd, names: tuple[str, str], host: str) -> dict[str, Any]:
    return {
        "TrainingJobName": end.name,
        "TrainingJobStatus": end.status,
        "SecondaryStatus": end.secondary,
        "FailureReason": end.reason,
        "NormalisedReason": None if end.reason is None else normalised_reason(end.reason, names=names),
        "ExitCode": end.exit_code,
        "Phases": [
            {"Status": each.status, "Seconds": None if each.seconds is None else round(each.seconds, 3)}
            for each in end.phases
        ],
        "FinalMetrics": dict(end.metrics),
        "LastLines": list(end.log.of(host)),
        "LogMissing": end.log.missing,
        "LogUnsure": end.log.unsure,
    }
