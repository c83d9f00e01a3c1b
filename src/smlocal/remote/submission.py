"""A job on the service: whether its name is free, its creation, and its end as a document."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from smlocal.errors import NameInUseError, ServiceJobUnknownError, ServiceRefusedError, SmlocalError
from smlocal.errors.submitting import ImageNotInEcrError
from smlocal.remote.service import Service

_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/"
    r"(?P<repository>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>.+))?"
)
_NOT_THERE = {"ImageNotFoundException", "RepositoryNotFoundException"}


def check_name(service: Service, name: str) -> None:
    """`NameInUseError` if the account has a job of this name in this region."""
    try:
        found = service.describe(name)
    except ServiceJobUnknownError:
        return
    made = found["CreationTime"].astimezone(UTC)
    raise _in_use(name, f"It is {found['TrainingJobStatus']}, and was made at {made:%Y-%m-%d %H:%M} UTC.")


def check_image(service: Service, request: Mapping[str, Any]) -> str | None:
    """`ImageNotInEcrError` for an image that Amazon ECR does not have; a sentence if that cannot be found out."""
    found = _ECR.fullmatch((request.get("AlgorithmSpecification") or {}).get("TrainingImage") or "")
    if found is None:
        return None
    wanted = {"imageDigest": found["digest"]} if found["digest"] else {"imageTag": found["tag"] or "latest"}
    try:
        service.call(
            "ecr",
            "DescribeImages",
            region=found["region"],
            registryId=found["account"],
            repositoryName=found["repository"],
            imageIds=[wanted],
        )
    except ServiceRefusedError as error:
        if error.code not in _NOT_THERE:
            return f"whether Amazon ECR has the image was not found out: {error.sentence}"
        raise ImageNotInEcrError(
            f"Amazon ECR does not have the image {found[0]}",
            details=error.details,
            remedy=("Push it:  docker push " + found[0], "Or name another one with --image."),
        ) from error
    except SmlocalError as error:
        return f"whether Amazon ECR has the image was not found out: {error.sentence}"
    return None


def create(service: Service, request: Mapping[str, Any]) -> str:
    """Create the job; returns its ARN."""
    try:
        answer = service.call("sagemaker", "CreateTrainingJob", **request)
    except ServiceRefusedError as error:
        if error.code == "ResourceInUse":
            raise _in_use(
                str(request["TrainingJobName"]), "It was made since this command began, maybe by an earlier try of it."
            ) from error
        raise
    return str(answer["TrainingJobArn"])


def stop(service: Service, name: str) -> None:
    """Ask the service to stop the job."""
    try:
        service.stop(name)
    except ServiceRefusedError:
        if service.describe(name)["TrainingJobStatus"] not in {"Completed", "Failed", "Stopped", "Stopping"}:
            raise  # otherwise it has ended by itself


def answer_document(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of the service as JSON can hold it: times as seconds, as smlocal's own documents have them."""
    found: dict[str, Any] = _plain({name: each for name, each in answer.items() if name != "ResponseMetadata"})
    return found


def _in_use(name: str, detail: str) -> NameInUseError:
    return NameInUseError(
        f"A training job with the name '{name}' already exists on the service (ResourceInUse).",
        details=(detail,),
        remedy=("Give this one another name with --name; nothing was uploaded or started.",),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.timestamp() if isinstance(value, datetime) else value
