"""The job file of a described job: the request, with comments where this machine differs from the service."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.remote.described_job import DescribedJob
from smlocal.remote.unavailable_here import Unavailable, unavailable_here

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
    """A job file that `smlocal run` takes. `notes` are about the job, such as what could not be found out."""
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
        yield from _comment("Nobody may have meant these, which every skeleton of the AWS CLI has:")
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
    """The block itself if there is anything to say; what may help as comments in it."""
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
    from textwrap import wrap

    for line in wrap(one_line(text), _WIDTH - 2, break_long_words=False, break_on_hyphens=False):
        yield f"# {line}"
