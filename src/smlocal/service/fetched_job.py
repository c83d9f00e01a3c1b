"""A job of the service: its description, its tags, and the facts found about its image."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ServiceForbiddenError, SmlocalError, UsageRefusedError
from smlocal.service.described_job import DescribedJob, described_job
from smlocal.service.service import Service

_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):\d{12}:training-job/(?P<name>.+)")
_NAME = re.compile(r"[a-zA-Z0-9](?:-*[a-zA-Z0-9]){0,62}")


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchedJob:
    """A job, with sentences about what the service said beside its description."""

    job: DescribedJob
    notes: tuple[str, ...]


def is_job_arn(text: str) -> bool:
    """Whether this is the ARN of a training job."""
    return _ARN.fullmatch(text) is not None


def fetch_job(name: str, *, profile: str | None, region: str | None) -> FetchedJob:
    """A job of the service by its name, or by its ARN, which names the region too."""
    arn = _ARN.fullmatch(name)
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
