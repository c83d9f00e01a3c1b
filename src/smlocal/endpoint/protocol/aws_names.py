"""The names of AWS: its domains, and which service and operation a request is for.

That is said by the target of a request, its form, its signature or its host.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from smlocal.base.quick_dataclass import dataclass

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
    """The scope of a signature."""

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


_VERSION: Final = "/v1/"
"""The beginning of the paths of AWS Batch, whose calls are such a path and JSON."""
_BATCH: Final = "batch"


def is_by_path(request: "Request", scope: Scope | None) -> bool:
    """True for a call of a service that names its operations in paths."""
    host = request.headers.get("host", "")
    known = scope.service == _BATCH if scope is not None else host.startswith(f"{_BATCH}.") or is_service_job(request)
    return known and request.url.path.startswith(_VERSION)


def is_service_job(request: "Request") -> bool:
    """True for the path of an operation on service jobs, which no other service has."""
    return request.url.path.startswith(_VERSION) and request.url.path.endswith(("servicejob", "servicejobs"))


def by_path(path: str, operations: Iterable[str]) -> tuple[str, str]:
    """Service and operation of `/v1/submitservicejob`. `operations`: those that the service has."""
    called = path.removeprefix(_VERSION)
    return _BATCH, next((each for each in operations if each.lower() == called), called)


def by_form(form: Mapping[str, str]) -> tuple[str | None, str]:
    """Service and operation of a query: the members Version and Action."""
    return _VERSIONS.get(form.get("Version", "")), form.get("Action", "")


# The domains: `smlocal exec` answers for them, and its certificates are for no others.

DOMAINS = (
    "amazonaws.com",
    "api.aws",
    "amazonaws.com.cn",
    "api.amazonwebservices.com.cn",
    "amazonaws.eu",
    "api.amazonwebservices.eu",
    "c2s.ic.gov",
    "api.aws.ic.gov",
    "sc2s.sgov.gov",
    "api.aws.scloud",
    "cloud.adc-e.uk",
    "api.cloud-aws.adc-e.uk",
    "csp.hci.ic.gov",
    "api.aws.hci.ic.gov",
)
"""All partitions that botocore knows, with one and with two kinds of addresses (dual stack)."""
_ENDS = tuple(f".{domain}" for domain in DOMAINS)
_LONGEST_NAME = 253
_LABELS = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}")


def is_aws(host: str) -> bool:
    """True for a name of AWS's services, in lower case and without a dot at its end."""
    return host.endswith(_ENDS) and len(host) <= _LONGEST_NAME and _LABELS.fullmatch(host) is not None


def is_above_aws(domain: str) -> bool:
    """True if this domain, as in `NO_PROXY`, has names of AWS's services below it, or is one."""
    name = domain.strip().lower().partition(":")[0].strip(".").removeprefix("*.")
    return name == "*" or any(each == name or each.endswith(f".{name}") for each in DOMAINS) or is_aws(name)
