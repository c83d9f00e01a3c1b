"""Calls about resources other than jobs: make and find them, with the service's errors."""

import time
from collections.abc import Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.contract.identity import DEFAULT_ACCOUNT, resource_arn, sagemaker_arn


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceWords:
    """A kind of resources."""

    name: str
    """In the store."""
    spoken: str
    """In sentences of the service."""
    in_arn: str
    as_named: bool = False
    """True if ARNs have the name in its own case."""

    def arn(self, name: str, *, region: str, account: str = DEFAULT_ACCOUNT) -> str:
        """The ARN of the resource with this name."""
        made = resource_arn if self.as_named else sagemaker_arn
        return made(self.in_arn, name, region=region, account=account)

    def unknown(self, name: str, *, region: str) -> ServiceError:
        """The error for a name that nothing has. SDKs look for its first words."""
        return validation_error(f'Could not find {self.spoken} "{self.arn(name, region=region)}".')

    def existing(self, arn: str) -> ServiceError:
        """The error for a name that is in use."""
        return validation_error(f'Cannot create already existing {self.spoken} "{arn}".')


MODEL: Final = ResourceWords(name="model", spoken="model", in_arn="model")
CONFIG: Final = ResourceWords(name="endpoint_config", spoken="endpoint configuration", in_arn="endpoint-config")


def create(serving: HasStore, kind: ResourceWords, name: str, *, arn: str, body: Mapping[str, Any]) -> None:
    """`ServiceError` if the name is in use, also in other case: both resources would have the same ARN."""
    now = round(time.time(), 3)
    new = StoredResource(kind=kind.name, name=name, arn=arn, created=now, modified=now, body=body)
    if serving.store.resource_of(arn) is not None or not serving.store.add_resource(new):
        raise kind.existing(arn)


def found(serving: HasStore, kind: ResourceWords, name: str, *, region: str) -> StoredResource:
    """The resource, also by its name in lower case, as ARNs have it, or `ServiceError`."""
    resource = serving.store.resource(kind.name, name)
    if resource is None:
        same = (each for each in serving.store.resources(kind.name) if each.name.lower() == name)
        resource = next(same, None)
    if resource is None:
        raise kind.unknown(name, region=region)
    return resource


def delete(serving: HasStore, kind: ResourceWords, call: AwsCall, member: str) -> dict[str, Any]:
    """Forget it. What was made of it stays."""
    resource = found(serving, kind, call.parameters[member], region=call.region)
    serving.store.change_resource(kind.name, resource.name, lambda _: None, at=time.time())
    return {}
