"""A job of the service, fetched or as somebody has saved its description, and the request behind it.

It is an answer of DescribeTrainingJob in any form, or a form that an SDK or the CLI makes. It may be edited or damaged.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final, get_args

from smlocal.api.job_files import REPLICAS, is_replica_answer, replica_kind
from smlocal.api.job_source import read_content, read_text
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import (
    JobFileSyntaxError,
    NotATrainingJobError,
    ServiceForbiddenError,
    SmlocalError,
    UsageRefusedError,
)
from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.model.describe import DescribeTrainingJobResponse
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.jobfile.skeleton import is_skeleton, without_empty
from smlocal.service.service import Service
from smlocal.terms.model.structure import Structure, member_types, members, split
from smlocal.terms.validation.violation import Path, dotted

_ARN = "TrainingJobArn"
_LOCAL = "Local"
_UPLOADS = "S3Operations"
"""The addition of SDK v2's training_config to a request: the uploads that Airflow should make."""
_ANSWER_ONLY = {"ResponseMetadata", _UPLOADS}
_RUNNING = ("InProgress", "Stopping")


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedJob:
    """A job of the service."""

    request: dict[str, Any]
    """The CreateTrainingJob request, in the service's order, without empty and newer members."""
    local: dict[str, Any] = field(default_factory=dict)
    """The `Local` block of a job file."""
    answer: Mapping[str, Any] | None
    """The answer of DescribeTrainingJob; None for a request."""
    dropped: tuple[str, ...] = ()
    """Members that only the answer has."""
    newer: Mapping[str, Any] = field(default_factory=dict)
    """Path to value of members that this version does not know. They are not in `request`."""
    empty: tuple[str, ...] = ()
    """Paths of members that are left out because they are empty."""
    skeleton: bool = False
    """True for what `--generate-cli-skeleton` printed, filled in by somebody."""
    untouched: tuple[str, ...] = ()
    """Default switches and choices of a skeleton."""
    from_elsewhere: bool = False
    """True for a document in the form of an answer: it is not a job file, and may not name paths of this machine."""

    @property
    def name(self) -> str:
        """The name of the job; empty if the request has none."""
        return str(self.request.get("TrainingJobName") or "")

    @property
    def arn(self) -> str:
        """The ARN of the described job; empty for a request."""
        return str((self.answer or {}).get(_ARN) or "")

    @property
    def region(self) -> str:
        """Where the job ran; empty for a request."""
        parts = self.arn.split(":")
        return parts[3] if len(parts) > 3 else ""  # noqa: PLR2004  arn:aws:sagemaker:REGION:…

    @property
    def status(self) -> str:
        """TrainingJobStatus when the job was described; empty for a request."""
        return str((self.answer or {}).get("TrainingJobStatus") or "")

    @property
    def is_running(self) -> bool:
        """Whether the job had not ended when it was described."""
        return self.status in _RUNNING


def described_job(document: Mapping[str, Any], *, name: str, job: str | None = None) -> DescribedJob:
    """The job in a document. `name`: of the file, for errors; `job`: which one, if the document has several.

    Raises `NotATrainingJobError` for an answer of another operation.
    """
    data = described_document(document, name=name, job=job)
    described = _ARN in data
    from_elsewhere = has_form_of_answer(document)
    taken, dropped, newer = _split(data)
    local: dict[str, Any] = {}
    if not from_elsewhere:  # a request of the user's own
        given = data.get(_LOCAL)
        local = {**_uploaded_code(data.get(_UPLOADS)), **(given if isinstance(given, Mapping) else {})}
    if described:
        _add_request_only(taken, data.get(_LOCAL))
    skeleton = not described and is_skeleton(taken)
    known = known_members(CreateTrainingJobRequest, taken, (), newer)
    count = _count_beside_groups(known) if described else ()
    filled = without_empty(known, skeleton=skeleton)
    if skeleton and not {"AlgorithmSpecification", "ServerlessJobConfig"} & filled.request.keys():
        raise NotATrainingJobError(
            f"{name} is a skeleton that was not filled in", remedy=["Write at least TrainingImage into it."]
        )
    return DescribedJob(
        request=filled.request,
        local=local,
        answer=data if described else None,
        dropped=tuple(dropped),
        newer=newer,
        empty=(*filled.left_out, *count),
        skeleton=skeleton,
        untouched=filled.untouched,
        from_elsewhere=from_elsewhere,
    )


def _split(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """The members of the request, in its order; the names that only the answer has; and those in neither."""
    ours, theirs = members(CreateTrainingJobRequest), members(DescribeTrainingJobResponse)
    taken = {each: data[each] for each in ours if data.get(each) is not None}
    others = [each for each in data if each not in ours and each != _LOCAL]
    dropped = [each for each in others if each in theirs or each in _ANSWER_ONLY]
    return taken, dropped, {each: data[each] for each in others if each not in dropped}


def _count_beside_groups(request: dict[str, Any]) -> tuple[str, ...]:
    """Take out what the service answers of a job with instance groups or preferences, and takes in no request."""
    resources = request.get("ResourceConfig")
    if not isinstance(resources, dict) or not (resources.get("InstanceGroups") or resources.get("InstancePreferences")):
        return ()
    if resources.get("InstanceCount") != 0:
        return ()
    del resources["InstanceCount"]
    return ("ResourceConfig.InstanceCount",)


def _add_request_only(taken: dict[str, Any], local: Any) -> None:
    """For an answer of `smlocal describe --json`: the members that the service does not return."""
    recorded = local.get("Request") if isinstance(local, Mapping) else None
    for each, value in recorded.items() if isinstance(recorded, Mapping) else ():
        taken.setdefault(each, value)


def _uploaded_code(uploads: Any) -> dict[str, str]:
    """`Local.Code` for the folder that Airflow would pack and upload; a single script is in one too."""
    for each in uploads.get("S3Upload") or () if isinstance(uploads, Mapping) else ():
        path = each.get("Path") if isinstance(each, Mapping) and each.get("Tar") else None
        if isinstance(path, str):
            return {"Code": os.path.dirname(path) or "." if path.endswith(".py") else path}
    return {}


def known_members(annotation: Any, value: Any, path: Path, newer: dict[str, Any]) -> Any:
    """A copy of a value without members that the model does not have; they go to `newer`."""
    kind, _ = split(annotation)
    if isinstance(kind, type) and issubclass(kind, Structure) and isinstance(value, Mapping):
        types = member_types(kind)
        newer.update({dotted((*path, each)): item for each, item in value.items() if each not in types})
        return {
            each: known_members(types[each], item, (*path, each), newer)
            for each, item in value.items()
            if each in types
        }
    if isinstance(value, list) and (kinds := get_args(kind)):
        return [known_members(kinds[0], item, (*path, index), newer) for index, item in enumerate(value)]
    return dict(value) if isinstance(value, Mapping) else value


_JOB = "TrainingJob"
_OF_A_JOB = ("AlgorithmSpecification", "ServerlessJobConfig")
"""Every description of a job, and every request, has one of these."""
_MOST_NAMED = 10
_SIGNS = (_ARN, "TrainingJobSummaries", "Results", "detail", _JOB)
"""A document with one of these keys is not a job file."""


def has_form_of_answer(document: Mapping[str, Any]) -> bool:
    """Whether a document is what the service says of jobs, and no request."""
    return any(sign in document for sign in _SIGNS)


def described_document(document: Mapping[str, Any], *, name: str, job: str | None = None) -> Mapping[str, Any]:
    """The description of one job, or a request. `name`: the file; `job`: the chosen job of several.

    It reads answers of DescribeTrainingJob and Search, and events of EventBridge.
    """
    found = list(_descriptions(document, name))
    if job is not None:
        found = [each for each in found if each.get("TrainingJobName") == job]
        if not found:
            raise NotATrainingJobError(
                f"{name} has no training job {job}", remedy=_named(_descriptions(document, name))
            )
    if len(found) > 1:
        raise NotATrainingJobError(
            f"{name} has {len(found)} training jobs", remedy=["Name one of them with --job NAME:", *_named(found)]
        )
    (one,) = found
    if not any(one.get(each) is not None for each in _OF_A_JOB):
        raise _not_described(one, name)
    return one


def _descriptions(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    results, event = document.get("Results"), document.get("detail")
    if isinstance(results, list):
        jobs = [each.get(_JOB, each) if isinstance(each, dict) else None for each in results]
        described = [each for each in jobs if isinstance(each, dict) and _ARN in each]
        if not described:
            raise NotATrainingJobError(
                f"{name} is an answer of Search without training jobs",
                remedy=["Search with --resource TrainingJob, or use describe-training-job."],
            )
        yield from described
    elif isinstance(event, dict) and _ARN in event:
        yield event
    elif isinstance(document.get(_JOB), dict):
        yield document[_JOB]
    else:
        yield document


def _named(found: Iterable[Mapping[str, Any]]) -> list[str]:
    names = [str(each.get("TrainingJobName")) for each in found]
    return names if len(names) <= _MOST_NAMED else [*names[:_MOST_NAMED], f"… and {len(names) - _MOST_NAMED} more"]


def _not_described(document: Mapping[str, Any], name: str) -> NotATrainingJobError:
    """The error for a document of something else, with the operation whose answer it is."""
    described = "aws sagemaker describe-training-job --training-job-name"
    file = "job.json" if name == "stdin" else name
    job = document.get("TrainingJobName") or str(document.get(_ARN) or "").rpartition("/")[2]
    if REPLICAS.describes(document):
        said = f"is a {replica_kind(document)}; this command takes training jobs of SageMaker"
        remedy = [f"Run it:  smlocal run {file}"]
        if is_replica_answer(document):
            remedy = [
                f"Its job file:  smlocal init {file}",
                f"Compare it with a run:  smlocal compare NAME {file}",
            ]
    elif "TrainingJobSummaries" in document:
        said = "is an answer of ListTrainingJobs: it has only names and times"
        remedy = [f"Save the description of one job:  {described} NAME >{file}", "Or:  smlocal fetch NAME"]
    elif _ARN in document and "TrainingJobStatus" in document:
        said = "has only a summary of the job"
        remedy = [f"Save its description:  {described} {job} >{file}", f"Or:  smlocal fetch {job}"]
    elif _ARN in document:
        said = "is an answer of CreateTrainingJob: it has only the ARN of the job"
        remedy = [f"Save its description:  {described} {job} >{file}", f"Or:  smlocal fetch {job}"]
    else:
        operation = _operation(document)
        said = f"is an answer of {operation}" if operation else "is not the description of a training job"
        remedy = [f"Save one with:  {described} NAME >{file}"]
    return NotATrainingJobError(f"{name} {said}", remedy=remedy)


def _operation(document: Mapping[str, Any]) -> str:
    """The operation that gives such an answer: a processing job has a ProcessingJobName and a ProcessingJobArn."""
    for key in document:
        thing = key.removesuffix("Arn")
        if thing != key and f"{thing}Name" in document:
            return f"Describe{thing}"
        if key.endswith("Summaries") and isinstance(document[key], list):
            return f"List{key.removesuffix('Summaries').removesuffix('Summary')}s"
    return ""


_NUMBER: Final = (int, float)
_SHAPE: Final[Mapping[str, Any]] = {
    "TrainingJobName": str,
    "TrainingJobStatus": str,
    "SecondaryStatus": str,
    "FailureReason": str,
    "TrainingTimeInSeconds": _NUMBER,
    "SecondaryStatusTransitions": [{"Status": str}],
    "FinalMetricDataList": [{"MetricName!": str, "Value!": _NUMBER}],
    "ModelArtifacts": {"S3ModelArtifacts": str},
    "Local": {
        "Image": str,
        "FailedHost": str,
        "Hosts": [{"Name!": str, "ExitCode!": int, "Log": str}],
        "Artifacts": {"Model": str, "Output": str},
        "Usage": {"Hosts": [{"Name!": str, "MemoryPeakMiB": _NUMBER, "CpuPeak": _NUMBER}]},
        "Request": {},
    },
}
"""Members that are read. With `!`, one that has to be there; null is as good as absent where a value is optional."""
_NULL_ALLOWED: Final = "ExitCode!"


def check_shape(answer: Mapping[str, Any], *, name: str) -> None:
    """`NotATrainingJobError` for a description with members that cannot be read. `name`: of the file or the job."""
    wrong = next(_wrong(answer, _SHAPE, ""), None)
    if wrong is not None:
        raise NotATrainingJobError(
            f"{name} is damaged: {wrong}", remedy=["Save the description again, or correct that member."]
        )


def _wrong(value: Any, shape: Any, path: str) -> Iterator[str]:
    if isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            yield f"{path} is not a mapping"
            return
        for member, inner in shape.items():
            name = member.removesuffix("!")
            found = value.get(name)
            if found is not None:
                yield from _wrong(found, inner, f"{path}.{name}" if path else name)
            elif member != name and (name not in value or member != _NULL_ALLOWED):
                yield f"{path} has no {name}"
    elif isinstance(shape, list):
        if not isinstance(value, list | tuple):
            yield f"{path} is not a list"
            return
        for index, item in enumerate(value):
            yield from _wrong(item, shape[0], f"{path}[{index}]")
    elif not isinstance(value, shape) or isinstance(value, bool):
        yield f"{path} has a value of another type"


def read_answer(path: str) -> "Document":
    """A saved answer of the service: JSON or YAML, one document or a list of jobs. `-` is standard input."""
    content, name = read_content(path)
    directory = os.getcwd() if path == "-" else os.path.dirname(os.path.abspath(path))
    if content.lstrip().startswith(b"["):  # such as of `aws sagemaker search --query "Results[].TrainingJob"`
        content = b'{"Results": ' + content + b"}"
    try:
        return read_text(content, name=name, directory=directory)
    except JobFileSyntaxError as error:
        if b"datetime.datetime(" not in content:
            raise
        raise JobFileSyntaxError(
            f"{name} is an answer as Python prints it, not JSON",
            details=error.details,
            remedy=["Save it with:  json.dump(answer, file, default=str)"],
        ) from error


_JOB_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):\d{12}:training-job/(?P<name>.+)")
_NAME = re.compile(r"[a-zA-Z0-9](?:-*[a-zA-Z0-9]){0,62}")


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchedJob:
    """A job, with sentences about what the service said beside its description."""

    job: DescribedJob
    notes: tuple[str, ...]


def is_job_arn(text: str) -> bool:
    """Whether this is the ARN of a training job."""
    return _JOB_ARN.fullmatch(text) is not None


def fetch_job(name: str, *, profile: str | None, region: str | None) -> FetchedJob:
    """A job of the service by its name, or by its ARN, which names the region too."""
    arn = _JOB_ARN.fullmatch(name)
    if arn is not None:
        name, region = arn["name"], region or arn["region"]
    if _NAME.fullmatch(name) is None:
        raise UsageRefusedError(
            f"{name!r} is neither a file nor the name of a training job", remedy=["Name a file, a job, or its ARN."]
        )
    service = Service(profile=profile, region=region)
    try:
        answer = service.describe(name)
        notes = []
        tags = []
        try:
            tags = service.tags(answer["TrainingJobArn"])
        except ServiceForbiddenError as error:
            notes.append(f"Tags are not known: the AWS credentials may not do {error.action}.")
        job = described_job({**answer, **({"Tags": tags} if tags else {})}, name=name)
        said = image_note(service, job.request, answer)
    finally:
        service.close()
    return FetchedJob(job=job, notes=tuple([*notes, said] if said else notes))


_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/"
    r"(?P<repository>[^:@]+)(?::(?P<tag>[^@]+))?(?P<digest>@sha256:[0-9a-f]{64})?"
)


def image_note(service: Service, request: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """A sentence about the image's digest; None for an image that is not in ECR, or is named by its digest."""
    image = str((request.get("AlgorithmSpecification") or {}).get("TrainingImage") or "")
    name = _ECR.fullmatch(image)
    if name is None or name["digest"]:
        return None
    try:
        found = service.call(
            "ecr",
            "DescribeImages",
            region=name["region"],
            registryId=name["account"],
            repositoryName=name["repository"],
            imageIds=[{"imageTag": name["tag"] or "latest"}],
        )["imageDetails"][0]
    except SmlocalError as error:
        why = error.details[0] if error.details else error.sentence
        return f"The digest of {image} is not known ({why}): its tag may name another image now."
    said = f"{image} is {found['imageDigest']} now"
    pushed, began = found.get("imagePushedAt"), answer.get("TrainingStartTime") or answer.get("CreationTime")
    if isinstance(pushed, datetime) and isinstance(began, datetime) and pushed > began:
        return f"{said}, pushed at {pushed:%Y-%m-%d %H:%M:%S%z}, after the job began: the job ran another image."
    return f"{said}."
