"""Region, account and names of a job, without network or AWS library."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from smlocal.base.regex import regex

DEFAULT_REGION = "us-east-1"
DEFAULT_ACCOUNT = "000000000000"
SESSION_NAME = "SageMaker"
"""The session name of the service at a job's role."""

_ECR = regex(r"(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/")
_ROLE = regex(r"arn:aws[a-z\-]*:iam::(?P<account>\d{12}):role/")
_NOT_IN_NAMES = regex(r"[^a-zA-Z0-9]+")
_NAME_LENGTH = 63
_WITHOUT_REGION = {"iam", "sts"}


def region(*, stated: str | None, environment: Mapping[str, str], profile: str | None, image: str | None) -> str:
    """The first region found in Local.Region, environment, profile, name of an ECR image; else us-east-1."""
    ecr = _ECR.match(image or "")
    return (
        stated
        or environment.get("AWS_REGION")
        or environment.get("AWS_DEFAULT_REGION")
        or profile
        or (ecr["region"] if ecr else None)
        or DEFAULT_REGION
    )


def is_region_name(name: str) -> bool:
    """True for names that botocore accepts. S3 servers other than Amazon's have regions of any name."""
    return re.fullmatch(r"(?!-)[a-zA-Z\d-]{1,63}(?<!-)", name, re.ASCII) is not None


def account(*, role: str | None, image: str | None) -> str:
    """The account in the role, else in the name of the ECR image, else twelve zeros."""
    found = _ROLE.match(role or "") or _ECR.match(image or "")
    return found["account"] if found else DEFAULT_ACCOUNT


def partition(region_name: str) -> str:
    """The AWS partition a region belongs to."""
    if region_name.startswith("cn-"):
        return "aws-cn"
    if region_name.startswith("us-gov-"):
        return "aws-us-gov"
    return "aws"


def arn(service: str, resource: str, *, region: str, account: str) -> str:
    """The ARN of a resource of an AWS service. Those of IAM and STS name no region, but its partition."""
    stated = "" if service in _WITHOUT_REGION else region
    return f"arn:{partition(region)}:{service}:{stated}:{account}:{resource}"


def sagemaker_arn(kind: str, name: str, *, region: str, account: str) -> str:
    """The ARN of a resource of SageMaker, such as the kind `endpoint`. The service writes names in lower case."""
    return resource_arn(kind, name.lower(), region=region, account=account)


def resource_arn(kind: str, name: str, *, region: str, account: str) -> str:
    """The same with the name as it is: that of a pipeline."""
    return arn("sagemaker", f"{kind}/{name}", region=region, account=account)


def default_name(stem: str, now: datetime) -> str:
    """A valid job name made from a file's name and the time."""
    stamp = now.strftime("-%Y%m%d-%H%M%S") + f"-{now.microsecond // 1000:03}"
    base = _NOT_IN_NAMES.sub("-", stem).strip("-")[: _NAME_LENGTH - len(stamp)].strip("-") or "job"
    return base + stamp


def instance_hostname(host_number: int, region_name: str) -> str:
    """The output of `hostname` in the container. As on the service, it is not `algo-1`."""
    domain = "ec2.internal" if region_name == "us-east-1" else f"{region_name}.compute.internal"
    return f"ip-10-0-{host_number // 250}-{host_number % 250 + 4}.{domain}"


_PLAIN: Final = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def plain_names(given: Iterable[str], usual: str) -> Iterator[str]:
    """A name for each that a file can have: its own, or `usual` and its number. The service takes any text."""
    seen: set[str] = set()
    for number, name in enumerate(given, start=1):
        plain = name if _PLAIN.fullmatch(name) and name not in seen else f"{usual}-{number}"
        seen.add(plain)
        yield plain
