"""A job of the service, run here: the request for the run, the two ends, and possible explanations of a difference."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.local_path import longest_match
from smlocal.errors import ServiceJobRunningError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobs.decide.hints import is_without_credentials
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.contract.instance_types import instance_type, is_this_machine
from smlocal.service.described_job import DescribedJob, check_shape
from smlocal.service.described_request import DescribedRequest
from smlocal.service.job_end import (
    ENDED,
    JobEnd,
    LogEnd,
    ReproductionVerdict,
    end_of,
    log_of_answer,
    normalised_reason,
    verdict_of,
)
from smlocal.service.job_file_text import elsewhere
from smlocal.service.job_kind import inputs_in, kind_of, map_at, places_of, waiting_command
from smlocal.service.unavailable_here import Unavailable, unavailable_here
from smlocal.terms.validation.violation import Path, dotted

AnyDescribed = DescribedJob | DescribedRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """One difference between the job and its run."""

    text: str
    """A sentence without its full stop."""
    option: str = ""
    """The option of the command that rules it out."""
    words: tuple[str, ...] = ()
    """The option with a value, as words of the command."""
    without: str = ""
    """The option that the command should not have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reproduction:
    """The outcome of the run."""

    there: JobEnd
    here: JobEnd
    sample: int | None
    """Local.Sample of the run."""
    verdict: ReproductionVerdict
    explanations: Sequence[Explanation] = ()
    """Possible explanations if it is not reproduced."""
    next: str | None = None
    """The command that follows."""


def check_ended(job: AnyDescribed, *, file: str | None) -> None:
    """Refuse a job whose end a run here could not have too."""
    if job.answer is None:
        raise UsageRefusedError(
            f"{file or job.name} is a request and does not say how a job ended",
            remedy=[f"Run it:  smlocal run {file or job.name}"],
        )
    kind = kind_of(job.request)
    if isinstance(job, DescribedJob):
        check_shape(job.answer, name=file or job.name)
    if job.status in ENDED:
        return
    if not job.status:
        raise UsageRefusedError(f"the description of {job.name} has no {kind.status_member}")
    raise ServiceJobRunningError(
        f"the job {job.name} is still {job.status}" + (f" in {file}" if file else ""),
        remedy=[
            f"Wait for it:  {waiting_command(kind, job.name)}",
            *(["Then save its description again."] if file else []),
        ],
    )


def document_for(
    job: AnyDescribed, *, directory: str | None, sample: int | None, allow_local_paths: bool = False
) -> "Document":
    """The job file of the run. Relative paths start in `directory`."""
    settings: dict[str, Any] = {
        **({"Region": job.region} if job.region else {}),
        **job.local,
        **({"Sample": sample} if sample is not None else {}),
    }
    data = {
        **deepcopy(job.request),
        kind_of(job.request).name_member: default_name(job.name, datetime.now().astimezone()),
    }
    document = Document(
        {**data, **({"Local": settings} if settings else {})},
        name=f"the request of {job.name}",
        directory=directory or os.getcwd(),
    )
    if isinstance(job, DescribedJob):
        document.elsewhere = elsewhere(job, allow_local_paths=allow_local_paths)
    else:
        document.elsewhere = job.elsewhere(allow_local_paths=allow_local_paths)
    return document


def reproduction(
    job: AnyDescribed, run: Mapping[str, Any], answer: Mapping[str, Any], log_there: Callable[[str], LogEnd]
) -> Reproduction:
    """The outcome of the run with this request and `Local` block.

    `log_there` reads the log of a host on the service.
    """
    here = end_of(answer, log_of_answer(answer))
    there = end_of(job.answer or {}, log_there(here.host))
    sample = (run.get("Local") or {}).get("Sample")
    verdict = verdict_of(there, here, sampled=sample is not None)
    found = () if verdict.reproduced else explanations(job, run, there, here)
    return Reproduction(there=there, here=here, sample=sample, verdict=verdict, explanations=found)


def reproduction_document(found: Reproduction) -> dict[str, Any]:
    """The output of `smlocal reproduce --json`."""
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
        end.kind.name_member: end.name,
        end.kind.status_member: end.status,
        "SecondaryStatus": end.secondary,
        "FailureReason": end.reason,
        **({} if end.message is None else {"ExitMessage": end.message}),
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


_KILLED = 137
_NO_MEMORY = "instance type with more memory"
"""In the service's reason of a job whose memory ran out."""
_NOT_COMPARED = {
    *("TrainingJobName", "RoleArn", "OutputDataConfig", "Tags"),
    *("ProcessingJobName", "ProcessingOutputConfig"),
}
"""They do not change how a job ends here."""
_MOST_NAMED = 8
_CODE = "HyperParameters"


def explanations(job: AnyDescribed, run: Mapping[str, Any], there: JobEnd, here: JobEnd) -> list[Explanation]:
    """Those of a run, the likeliest first. `run` is the request of the run, with its `Local` block."""
    asked = {name: value for name, value in run.items() if name != "Local"}
    given = run.get("Local")
    local: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    absent = unavailable_here(asked, local)
    return [
        *_memory(asked, local, there, here),
        *_not_started(absent, here),
        *_image(job.request, asked),
        *_code(job.request, local, absent, here),
        *_data(job.request, asked, local),
        *_sample(local),
        *_members(job.request, asked),
        *_left_out(job),
        *_devices(asked, local),
        *_credentials(local, here),
        *_network(asked),
    ]


def _memory(request: Mapping[str, Any], local: Mapping[str, Any], there: JobEnd, here: JobEnd) -> Iterator[Explanation]:
    killed = [_is_killed(end) for end in (there, here)]
    if killed == [False, True]:
        limit = (
            f"the limit of {local['Memory']}" if local.get("Memory") else "the memory of this machine, or its limit,"
        )
        yield Explanation(text=f"exit code 137 mostly means that memory ran out: here {limit} was too little")
    if killed != [True, False] or local.get("EnforceInstanceLimits") or local.get("Memory"):
        return
    name = str(map_at(request, places_of(request).machines).get("InstanceType") or "")
    try:
        size = None if is_this_machine(name) else instance_type(name)
    except LookupError:
        size = None
    of_type = "the instance" if size is None else f"{name} ({size.memory_mib // 1024} GiB)"
    yield Explanation(
        text=f"exit code 137 mostly means that memory ran out, and the memory of {of_type} is not enforced here",
        option="--enforce-limits",
        words=("--enforce-limits",),
    )


def _is_killed(end: JobEnd) -> bool:
    """Whether memory may have run out. A job that is stopped ends with this exit code too."""
    return end.status == "Failed" and (end.exit_code == _KILLED or _NO_MEMORY in (end.reason or ""))


def _not_started(absent: Sequence[Unavailable], here: JobEnd) -> Iterator[Explanation]:
    """For a run without a container, everything that it may have lacked."""
    if here.exit_code is None and here.status == "Failed":
        yield from (
            Explanation(text=each.text, option=each.option, words=each.words)
            for each in absent
            if each.path[0] != _CODE
        )


def _image(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[Explanation]:
    images = [kind_of(each).reads.image_in(each) or "none" for each in (there, here)]
    if images[0] != images[1]:
        yield Explanation(text=f"the image is another one: {images[0]} there, {images[1]} here")


def _code(
    there: Mapping[str, Any], local: Mapping[str, Any], absent: Sequence[Unavailable], here: JobEnd
) -> Iterator[Explanation]:
    archive = str(map_at(there, (_CODE,)).get("sagemaker_submit_directory") or "").strip('"')
    if local.get("Code"):
        said = f", not from {archive}" if archive else ": the job there had none from smlocal"
        yield Explanation(text=f"/opt/ml/code comes from {local['Code']}{said}")
    for each in absent:
        if each.path[0] == _CODE and here.exit_code is not None:
            yield Explanation(
                text=f"the run had no --code, and no AWS credentials to fetch {archive}",
                option=each.option,
                words=each.words,
            )


def _data(there: Mapping[str, Any], here: Mapping[str, Any], local: Mapping[str, Any]) -> Iterator[Explanation]:
    uris = [dict(_channels(each)) for each in (there, here)]
    sources = local.get("Sources") if isinstance(local.get("Sources"), Mapping) else {}
    own = [name for name, uri in uris[1].items() if uris[0].get(name) != uri or _mapped(uri, sources or {})]
    if own:
        yield Explanation(text=f"the data of {', '.join(own)} is from folders of this machine, not from where it was")


def _channels(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, objects, system in inputs_in(request):
        yield name, str(objects.get("S3Uri") or system.get("FileSystemId") or "")


def _mapped(uri: str, sources: Mapping[str, str]) -> bool:
    return longest_match(uri, sources) is not None


def _sample(local: Mapping[str, Any]) -> Iterator[Explanation]:
    if local.get("Sample") is not None:
        yield Explanation(text=f"the run had only a sample of the data ({local['Sample']} of each)", without="--sample")


def _members(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[Explanation]:
    """Other members that options or the configuration file have changed."""
    changed = [
        dotted(path)
        for path in _changed(there, here, ())
        if path[0] not in _NOT_COMPARED and path != kind_of(here).reads.IMAGE
    ]
    # The data of a channel has an explanation of its own.
    changed = [each for each in changed if not each.startswith("InputDataConfig") or ".DataSource" not in each]
    changed = [each for each in changed if not (each.startswith("ProcessingInputs") and each.endswith(".S3Uri"))]
    if changed:
        more = len(changed) - _MOST_NAMED
        named = ", ".join(changed[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        yield Explanation(text=f"the run has other values than the job: {named}")


def _changed(there: Any, here: Any, path: Path) -> Iterator[Path]:
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        for name in dict.fromkeys((*there, *here)):
            yield from _changed(there.get(name), here.get(name), (*path, name))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for index, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from _changed(one, other, (*path, index))
    elif there != here:
        yield path


def _left_out(job: AnyDescribed) -> Iterator[Explanation]:
    if job.newer:
        yield Explanation(text=f"left out, because this version of smlocal does not know it: {', '.join(job.newer)}")


def _devices(request: Mapping[str, Any], local: Mapping[str, Any]) -> Iterator[Explanation]:
    if not local.get("AllowCpu") and local.get("Gpus", "auto") == "auto":
        return
    rest = {name: value for name, value in local.items() if name not in ("AllowCpu", "Gpus", "MaxHosts")}
    for each in unavailable_here(request, rest):
        if each.option == "--allow-cpu":
            had = "none" if local.get("AllowCpu") or local.get("Gpus") in ("none", 0) else "those that --gpus names"
            yield Explanation(text=f"{each.text.partition(', which')[0]}, and the run had {had}")


def _credentials(local: Mapping[str, Any], here: JobEnd) -> Iterator[Explanation]:
    if local.get("Credentials", "none") == "none" and is_without_credentials("\n".join(here.log.of(here.host))):
        yield Explanation(
            text="the program called AWS, and its container had no credentials",
            option="--credentials inherit",
            words=("--credentials", "inherit"),
        )


def _network(request: Mapping[str, Any]) -> Iterator[Explanation]:
    if map_at(request, places_of(request).vpc):
        yield Explanation(text="the container is not in the VPC of the job")
