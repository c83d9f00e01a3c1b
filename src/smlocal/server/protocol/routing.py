"""Which service and operation a request is for: by its target, its form, its signature or its host."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from starlette.requests import Request  # the endpoint of debugger rules does without

_SCOPE = re.compile(r"Credential=([^/,\s]+)/(\d{8})/([^/,\s]+)/([^/,\s]+)/aws4_request")
_SIGNED_AS = {"monitoring": "cloudwatch"}
"""Names in signatures that are not those of botocore."""
AWS_NAMES = {name: signed for signed, name in _SIGNED_AS.items()}
"""Names of botocore that are not those in signatures."""
_TARGETS = {
    "SageMaker": "sagemaker",
    "Logs_20140328": "logs",
    "GraniteServiceVersion20100801": "cloudwatch",
}
_VERSIONS = {"2011-06-15": "sts", "2010-05-08": "iam", "2010-08-01": "cloudwatch", "2010-03-31": "sns"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What a signature says of itself."""

    access_key: str
    day: str
    region: str
    service: str


def scope_of(request: "Request") -> Scope | None:
    """The scope of a signature of version 4, in the header Authorization or in the query."""
    presigned = request.query_params.get("X-Amz-Credential")
    return stated_scope(request.headers.get("authorization") if presigned is None else f"Credential={presigned}")


def stated_scope(signature: str | None) -> Scope | None:
    """The scope in the header Authorization."""
    found = _SCOPE.search(signature or "")
    if found is None:
        return None
    key, day, region, service = found.groups()
    return Scope(access_key=key, day=day, region=region, service=_SIGNED_AS.get(service, service))


def by_target(target: str) -> tuple[str | None, str]:
    """Service and operation of the header X-Amz-Target: `SageMaker.DescribeTrainingJob`."""
    prefix, _, operation = target.rpartition(".")
    return _TARGETS.get(prefix), operation


def by_form(form: Mapping[str, str]) -> tuple[str | None, str]:
    """Service and operation of a query: the members Version and Action."""
    return _VERSIONS.get(form.get("Version", "")), form.get("Action", "")
