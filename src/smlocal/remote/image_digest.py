"""Which image a name in Amazon ECR means today, and whether it meant another one when a job ran."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from smlocal.errors import SmlocalError
from smlocal.remote.service import Service

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
