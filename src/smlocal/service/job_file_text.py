"""The job file of a described job: the request, with comments where this machine differs from the service.

It may name paths of this machine only if it is that of a job here, and if asked.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from textwrap import wrap
from typing import Any

from smlocal.api.recorded_job import recorded_request
from smlocal.jobfile.document import Document, Elsewhere
from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.jobfile.local_paths import local_locations, refuse_local_paths
from smlocal.service.described_job import DescribedJob, described_job
from smlocal.service.unavailable_here import Unavailable, unavailable_here

_NAME = "TrainingJobName"
_LONGEST_REASON = 300
_WIDTH = 80
_ABOUT = {
    "Sources": "local folders in place of S3 and file systems",
    "Pull": "with TrainingImage, or --image, naming an image that is here",
    "AllowCpu": "without the devices of the instance type",
    "Credentials": "AWS credentials for the container: yours, or role for those of RoleArn",
    "MaxHosts": "each host is a container",
}


def job_file_text(job: DescribedJob, *, file: str, notes: Sequence[str] = ()) -> str:
    """A job file that `smlocal run` takes. `notes` are about the job, such as facts that could not be found out."""
    absent = unavailable_here(job.request, job.local)
    return "".join(
        f"{line}\n" for line in (*_head(job, file, notes), *_request(job, absent), *_local(job, absent), *_newer(job))
    )


def _head(job: DescribedJob, file: str, notes: Sequence[str]) -> Iterator[str]:
    yield f"# A CreateTrainingJob request. Run it here:  smlocal run {one_line(file)}"
    yield f"# See what a run would do:  smlocal plan {one_line(file)}"
    if job.answer is not None:
        yield "#"
        yield from _comment(f"As the training job {job.name} in {job.region or 'an unknown region'}: {_end(job)}.")
        yield from _comment(f"Left out, because only the answer has it: {', '.join(job.dropped)}.")
    if job.empty:
        yield from _comment(f"Left out, because it is empty: {', '.join(job.empty)}.")
    for note in notes:
        yield from _comment(note)
    if job.untouched:
        yield from _comment("Every skeleton of the AWS CLI has these, so they may be unintended:")
        yield from (f"#   {one_line(each)}" for each in job.untouched)
    yield ""


def _end(job: DescribedJob) -> str:
    reason = str((job.answer or {}).get("FailureReason") or "")
    shown = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
    said = f"{job.status} when it was described" if job.is_running else job.status or "its status is not known"
    return f"{said}, {shown.rstrip('.')}" if shown else said


def _request(job: DescribedJob, absent: Sequence[Unavailable]) -> Iterator[str]:
    if job.name:
        yield f"# {_lines({_NAME: job.name})[0]}"
        yield "# Without TrainingJobName, the name is made from this file's name and the time."
    for member, value in job.request.items():
        if member == _NAME:
            continue
        for each in absent:
            if each.path[0] == member:
                below = f" See {', '.join(each.local)} in Local, below." if each.local else ""
                yield from _comment(f"Here {each.text}.{below}")
        yield from _lines({member: value})


def _local(job: DescribedJob, absent: Iterable[Unavailable]) -> Iterator[str]:
    """The block itself if it has settings; possible ones in it as comments."""
    given = dict(job.local)
    if job.region:
        given.setdefault("Region", job.region)
    proposed: dict[str, Any] = {}
    for each in absent:
        for name, value in each.local.items():
            proposed[name] = {**proposed.get(name, {}), **value} if isinstance(value, dict) else value
    if job.request.get("RoleArn"):
        proposed.setdefault("Credentials", "inherit")
    offered = {name: value for name, value in proposed.items() if name not in given}
    if not given and not offered:
        return
    yield f"{'' if given else '# '}Local: # settings of this machine, which are not sent to the service"
    yield from (f"  {line}" for line in _lines(given))
    for name, value in offered.items():
        first, *rest = _lines({name: value})
        yield f"{'  # ' if given else '#   '}{first} # {_ABOUT[name]}"
        yield from (f"{'  # ' if given else '#   '}{line}" for line in rest)


def _newer(job: DescribedJob) -> Iterator[str]:
    if not job.newer:
        return
    yield "# This version of smlocal does not know these members, and would refuse them:"
    yield from (f"#   {line}" for line in _lines(dict(job.newer)))


def _lines(data: dict[str, Any]) -> list[str]:
    return yaml_text(data).splitlines() if data else []


def _comment(text: str) -> Iterator[str]:
    for line in wrap(one_line(text), _WIDTH - 2, break_long_words=False, break_on_hyphens=False):
        yield f"# {line}"


def elsewhere(job: DescribedJob, *, allow_local_paths: bool) -> Elsewhere | None:
    """Facts for the check of the local paths of its request; None for a request, which is the user's own.

    A description is that of a job of this machine if the home has a job of its name and ARN. The ARN proves nothing by
    itself, because anyone can write it: so only those paths are allowed that the recorded request has too.
    """
    if not job.from_elsewhere:
        return None
    if not local_locations(job.request):
        return Elsewhere()

    recorded = recorded_request(job.name, arn=job.arn)
    if recorded is None:
        return Elsewhere()
    return Elsewhere(own_job=job.name, allowed=frozenset(local_locations(recorded) if allow_local_paths else ()))


def check_local_paths(job: DescribedJob, *, name: str, allow_local_paths: bool = False) -> None:
    """`PathInDescriptionError` for the description of a job with paths that it may not name. `name`: of the file."""
    document = Document(job.request, name=name, directory=os.getcwd())
    document.elsewhere = elsewhere(job, allow_local_paths=allow_local_paths)
    refuse_local_paths(document)


def make_job(document: "Document", *, local: bool = True, allow_local_paths: bool = False) -> DescribedJob:
    """Replace the description in a document by its request. `local`: with a `Local` block, if it needs one.

    `allow_local_paths`: accept paths of this machine, for the description of a job that ran here.
    """
    job = described_job(document.data, name=document.name)
    document.elsewhere = elsewhere(job, allow_local_paths=allow_local_paths)
    settings = {**({"Region": job.region} if job.region else {}), **job.local} if local else {}
    name = default_name(job.name, datetime.now().astimezone()) if job.answer is not None else job.name
    document.data = {
        **job.request,
        **({"TrainingJobName": name} if name else {}),
        **({"Local": settings} if settings else {}),
    }
    return job


def sentences(job: DescribedJob, file: str) -> Iterator[str]:
    """The remarks about it."""
    if job.answer is None:
        code = f", and its code is taken from {job.local['Code']}" if job.local.get("Code") else ""
        yield f"{file} is a request for Airflow: its uploads are not made{code}"
    else:
        state = ", ".join(filter(None, (job.status, job.region)))
        yield f"{file} describes the training job {job.name} ({state}): its request is used"
    if job.is_running:
        yield f"{job.name} had not ended when it was described"
    if job.newer:
        yield f"left out, because this version of smlocal does not know it: {', '.join(job.newer)}"
