"""The checks before anything is sent: the service's refusals of a request, and the cost of the job."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.local_path import is_remote
from smlocal.errors.of_commands import ImageNotInEcrError
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import invalid_request
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.identity import plain_names
from smlocal.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.sagemaker.jobfile.request_reading import SharedReading
from smlocal.sagemaker.kinds import PROCESSING, TRAINING, request_reading
from smlocal.service.job_kind import kind_of
from smlocal.terms.validation.violation import Path, Violation, spoken

_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/[^:@]+(?:[:@].+)?"
)


def reading_of(document: Document) -> SharedReading:
    """What reads the request of a training job or a processing job."""
    return request_reading(PROCESSING if PROCESSING.describes(document.data) else TRAINING)


def local_settings(document: Document) -> LocalSettings:
    """The `Local` block of a job file, which the service does not get."""
    reading = reading_of(document)
    request, raw, _ = reading.validated(document, strict=False)
    local, _, violations = reading.read_local(document, request, raw)
    if local is None or violations:
        raise invalid_request(document, violations)
    return local


def strict_request(document: Document, *, region: str | None) -> dict[str, Any]:
    """The request as the service takes it: without `Local` and null members. One error lists all mistakes.

    Members that smlocal does not support are not mistakes here.
    """
    _, request, violations = reading_of(document).validated(document, strict=True)
    if violations:
        error = invalid_request(document, violations + _image_violation(request))
        error.remedy = tuple(flags_for(request))
        raise error
    refuse_other_image(document, request, region)
    return request


def region_in_ecr(image: str) -> str | None:
    """The region of an image in Amazon ECR; None for an image that is not there."""
    found = _ECR.fullmatch(image)
    return None if found is None else found["region"]


def other_region(request: dict[str, Any], region: str | None) -> str | None:
    """The region of an image in Amazon ECR, if it is not that of the job."""
    found = _ECR.fullmatch(_image(request) or "")
    return found["region"] if found is not None and region is not None and found["region"] != region else None


def _image(request: dict[str, Any]) -> str | None:
    """The image that the service pulls itself; None if there is none."""
    specification = request.get("AlgorithmSpecification")
    access = specification.get("TrainingImageConfig") if isinstance(specification, dict) else None
    if isinstance(access, dict) and access.get("TrainingRepositoryAccessMode") == "Vpc":
        return None  # from a private registry
    return kind_of(request).reads.image_in(request)


def _not_in_ecr(request: dict[str, Any]) -> str | None:
    image = _image(request)
    return image if image is not None and not _ECR.fullmatch(image) else None


def _image_violation(request: dict[str, Any]) -> list[Violation]:
    image = _not_in_ecr(request)
    text = f"{image} is not in Amazon ECR, and the service pulls no other images"
    return [] if image is None else [Violation(path=kind_of(request).reads.IMAGE, text=text)]


def flags_for(request: Mapping[str, Any]) -> Iterator[str]:
    """The flags that add what a job file for this machine may leave out."""
    if "RoleArn" not in request:
        yield "The role of the job:  --role arn:aws:iam::ACCOUNT:role/NAME"
    if kind_of(request) is PROCESSING:
        if any(True for _ in outputs_here(request)):
            yield "The place in S3 for its outputs:  --output-to s3://bucket/some/prefix"
        return
    output = request.get("OutputDataConfig")
    uri = output.get("S3OutputPath") if isinstance(output, dict) else None
    if not isinstance(uri, str) or not is_remote(uri):
        yield "The place in S3 for its artifacts:  --output-to s3://bucket/some/prefix"


def outputs_here(request: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """The index and the name of each output of a processing job that goes to this machine."""
    config = request.get("ProcessingOutputConfig")
    given = config.get("Outputs") if isinstance(config, Mapping) else None
    outputs = [each if isinstance(each, Mapping) else {} for each in given] if isinstance(given, list) else []
    names = plain_names((str(each.get("OutputName") or "") for each in outputs), "output")
    for index, (output, name) in enumerate(zip(outputs, names, strict=True)):
        target = output.get("S3Output")
        uri = target.get("S3Uri") if isinstance(target, Mapping) else None
        if isinstance(uri, str) and not is_remote(uri):
            yield index, name


def refuse_other_image(
    document: Document, request: dict[str, Any], region: str | None, *, path: Path | None = None
) -> None:
    """`ImageNotInEcrError` for an image that the service cannot pull.

    `path`: where it is in the document, if this is a definition of a tuning job, whose image no flag names.
    """
    image = _not_in_ecr(request)
    if image is None:
        return
    kind = kind_of(request)
    submitted = "submit that name with --image" if path is None else f"write that name into {spoken(path)}"
    raise ImageNotInEcrError(
        f"{image} is not an image in Amazon ECR, and the service pulls no other images",
        details=(f"{document.where(path or kind.reads.IMAGE)}   {kind.reads.IMAGE[-1]}: {image}",),
        remedy=(
            f"Push it there, with the number of your account, and {submitted}:",
            *push_commands(image, region),
            *([_OTHER_REGISTRY] if kind is TRAINING and path is None else []),
        ),
    )


def push_commands(image: str, region: str | None) -> tuple[str, ...]:
    """The commands that bring a local image to Amazon ECR."""
    region = region or "REGION"
    repository, _, tag = image.rpartition("/")[2].partition("@")[0].partition(":")
    ending = ".cn" if region.startswith("cn-") else ""
    registry = f"ACCOUNT.dkr.ecr.{region}.amazonaws.com{ending}"
    pushed = f"{registry}/{repository}:{tag or 'latest'}"
    return (
        f"  aws ecr create-repository --region {region} --repository-name {repository}",
        f"  aws ecr get-login-password --region {region} | docker login --username AWS --password-stdin {registry}",
        f"  docker tag {image} {pushed} && docker push {pushed}",
    )


_OTHER_REGISTRY = "An image of another registry needs TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}."
_MINUTE, _HOUR = 60, 3600
_TEN = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """The most that one job may use."""

    instances: tuple[tuple[int, str], ...]
    """How many of which type."""
    seconds: int
    """MaxRuntimeInSeconds."""
    stated: bool
    """False if the request does not limit the time, so that the service's default counts."""
    spot: bool
    kept_seconds: int
    """How long the service keeps the instances after the end, for the next job."""

    @property
    def hours(self) -> float:
        """Instance-hours at most, those of a warm pool too."""
        return sum(count for count, _ in self.instances) * (self.seconds + self.kept_seconds) / _HOUR

    @property
    def sentence(self) -> str:
        """`2 × ml.p3.2xlarge for at most 24 h: 48 instance-hours`."""
        machines = " and ".join(f"{count} × {kind}" for count, kind in self.instances)
        limit = f"{machines} for at most {duration(self.seconds)}"
        if self.kept_seconds:
            limit += f" and {duration(self.kept_seconds)} as a warm pool"
        return f"{limit}: {_hours(self.hours)}"


def cost_of(request: Mapping[str, Any]) -> Cost | None:
    """The most that a valid request may use; None if it names no instances."""
    resources = request.get("ResourceConfig") or (request.get("ProcessingResources") or {}).get("ClusterConfig") or {}
    if resources.get("InstanceGroups"):
        instances = tuple((group["InstanceCount"], group["InstanceType"]) for group in resources["InstanceGroups"])
    elif "InstanceType" in resources:
        instances = ((resources.get("InstanceCount", 1), resources["InstanceType"]),)
    elif resources.get("InstancePreferences"):
        preferred = resources["InstancePreferences"]
        count = max(each.get("InstanceCount") or resources.get("InstanceCount") or 1 for each in preferred)
        instances = ((count, " or ".join(each["InstanceType"] for each in preferred)),)
    else:
        return None
    seconds = (request.get("StoppingCondition") or {}).get("MaxRuntimeInSeconds")
    return Cost(
        instances=instances,
        seconds=seconds if seconds is not None else DEFAULT_MAX_RUNTIME,
        stated=seconds is not None,
        spot=request.get("EnableManagedSpotTraining") is True,
        kept_seconds=resources.get("KeepAlivePeriodInSeconds", 0),
    )


def _hours(hours: float) -> str:
    amount = f"{hours:,.0f}" if hours >= _TEN else f"{hours:.2g}"
    return f"{amount} instance-hour{'s' * (amount != '1')}"


def duration(seconds: int) -> str:
    """`90 s`, `24 h`, `1 h 30 min`."""
    if seconds < 2 * _MINUTE or seconds % _MINUTE:
        return f"{seconds} s"
    hours, minutes = seconds // _HOUR, seconds % _HOUR // _MINUTE
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes or not hours else [])])
