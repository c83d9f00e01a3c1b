"""A processing job of the service: the request in its description, and the job file of that."""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from smlocal.api.recorded_job import recorded_request
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ServiceForbiddenError, UsageRefusedError
from smlocal.jobfile.document import Document, Elsewhere
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.jobs.contract.model.structure import members
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.contract.model.processing import CreateProcessingJobRequest
from smlocal.sagemaker.jobfile.local_paths import local_locations, refuse_local_paths
from smlocal.service.described_job import known_members
from smlocal.service.service import Service

_ARN: Final = "ProcessingJobArn"
_NAME: Final = "ProcessingJobName"
_ANSWER_ONLY: Final = frozenset(
    {
        _ARN,
        "ProcessingJobStatus",
        "ExitMessage",
        "FailureReason",
        "ProcessingStartTime",
        "ProcessingEndTime",
        "CreationTime",
        "LastModifiedTime",
        "MonitoringScheduleArn",
        "AutoMLJobArn",
        "TrainingJobArn",
        "ResponseMetadata",
    }
)
_PATTERN: Final = re.compile(r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):\d{12}:processing-job/(?P<name>.+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedProcessing:
    """A processing job."""

    request: dict[str, Any]
    """The CreateProcessingJob request, in the service's order."""
    local: Mapping[str, Any]
    """The `Local` block of a request of the user's own; empty for an answer."""
    answer: Mapping[str, Any] | None
    """The answer of DescribeProcessingJob; None for a request."""
    newer: Mapping[str, Any]
    """Path to value of members that this version does not know."""

    @property
    def name(self) -> str:
        """Empty if the request has none."""
        return str(self.request.get(_NAME) or "")

    @property
    def arn(self) -> str:
        """Empty for a request."""
        return str((self.answer or {}).get(_ARN) or "")

    @property
    def region(self) -> str:
        """Where the job ran; empty for a request."""
        found = _PATTERN.fullmatch(self.arn)
        return found["region"] if found is not None else ""

    @property
    def status(self) -> str:
        """ProcessingJobStatus when the job was described; empty for a request."""
        return str((self.answer or {}).get("ProcessingJobStatus") or "")

    @property
    def state(self) -> str:
        """Its status and region, as a remark has them."""
        return ", ".join(filter(None, (self.status, self.region)))


def is_answer(data: Mapping[str, Any]) -> bool:
    """True for an answer of DescribeProcessingJob."""
    return _ARN in data and "AppSpecification" in data


def described_processing(data: Mapping[str, Any]) -> DescribedProcessing:
    """The job in an answer or a request."""
    ours = members(CreateProcessingJobRequest)
    taken = {each: data[each] for each in ours if data.get(each) is not None}
    answer = data if is_answer(data) else None
    local = data.get(LOCAL)
    if answer is not None and isinstance(local, Mapping) and isinstance(local.get("Request"), Mapping):
        for each, value in local["Request"].items():  # of our own answer: what the service does not return
            taken.setdefault(each, value)
    ignored = {LOCAL, *(_ANSWER_ONLY if answer is not None else ())}
    newer = {each: value for each, value in data.items() if each not in ours and each not in ignored}
    return DescribedProcessing(
        request=known_members(CreateProcessingJobRequest, taken, (), newer),
        local=local if answer is None and isinstance(local, Mapping) else {},
        answer=answer,
        newer=newer,
    )


def fetch_processing(arn: str, *, profile: str | None, region: str | None) -> tuple[DescribedProcessing, list[str]]:
    """A job of the service by its ARN, and remarks."""
    found = _PATTERN.fullmatch(arn)
    if found is None:
        raise UsageRefusedError(f"{arn!r} is not the ARN of a processing job")
    service = Service(profile=profile, region=region or found["region"])
    notes = []
    tags = []
    try:
        answer = service.call("sagemaker", "DescribeProcessingJob", ProcessingJobName=found["name"])
        try:
            tags = service.tags(answer[_ARN])
        except ServiceForbiddenError as error:
            notes.append(f"Tags are not known: the AWS credentials may not do {error.action}.")
    finally:
        service.close()
    return described_processing({**answer, **({"Tags": tags} if tags else {})}), notes


def use_request(document: Document, *, allow_local_paths: bool) -> DescribedProcessing:
    """Replace the answer in a document by its request, with a new name and the region of the ARN."""
    job = described_processing(document.data)
    document.elsewhere = elsewhere_of(job, allow_local_paths=allow_local_paths)
    document.data = {
        **job.request,
        **({_NAME: default_name(job.name, datetime.now().astimezone())} if job.name else {}),
        **({LOCAL: {"Region": job.region}} if job.region else {}),
    }
    return job


def check_local_paths(job: DescribedProcessing, *, name: str, allow_local_paths: bool) -> None:
    """`PathInDescriptionError` for an answer with paths that it may not name. `name`: of the file."""
    document = Document(job.request, name=name, directory=os.getcwd())
    document.elsewhere = elsewhere_of(job, allow_local_paths=allow_local_paths)
    refuse_local_paths(document, CreateProcessingJobRequest)


def elsewhere_of(job: DescribedProcessing, *, allow_local_paths: bool) -> Elsewhere | None:
    """As that of a training job: only paths are allowed that the job here of this name and ARN was given."""
    if job.answer is None:
        return None
    recorded = recorded_request(job.name, arn=job.arn)
    if recorded is None:
        return Elsewhere()
    known = local_locations(recorded, CreateProcessingJobRequest) if allow_local_paths else ()
    return Elsewhere(own_job=job.name, allowed=frozenset(known))


def processing_file_text(job: DescribedProcessing, *, file: str) -> str:
    """A job file that `smlocal run` takes."""
    return "".join(f"{line}\n" for line in _lines(job, file))


def _lines(job: DescribedProcessing, file: str) -> Iterator[str]:
    yield f"# A CreateProcessingJob request. Run it here:  smlocal run {one_line(file)}"
    if job.answer is not None:
        yield f"# As the processing job {one_line(job.name)} ({one_line(job.state)})."
    yield ""
    if job.name:
        yield f"# {yaml_text({_NAME: job.name}).splitlines()[0]}"
        yield "# Without ProcessingJobName, the name is made from this file's name and the time."
    yield from yaml_text({each: value for each, value in job.request.items() if each != _NAME}).splitlines()
    settings = {**({"Region": job.region} if job.region else {}), **job.local}
    if settings:
        yield from yaml_text({LOCAL: settings}).splitlines()
    if job.newer:
        yield "# This version of smlocal does not know these members, and would refuse them:"
        yield from (f"#   {line}" for line in yaml_text(dict(job.newer)).splitlines())
