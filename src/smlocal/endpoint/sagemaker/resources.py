"""Resources that are no jobs, in calls: how they are made, found, listed and not found, in the service's words."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.page_tokens import key_of, token_of
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.contract.identity import DEFAULT_ACCOUNT, partition

_ON_A_PAGE: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of resources."""

    name: str
    """In the store."""
    spoken: str
    """In sentences of the service."""
    in_arn: str

    def arn(self, name: str, *, region: str, account: str = DEFAULT_ACCOUNT) -> str:
        """The service writes the name in lower case."""
        return f"arn:{partition(region)}:sagemaker:{region}:{account}:{self.in_arn}/{name.lower()}"

    def unknown(self, name: str, *, region: str) -> ServiceError:
        """The error for a name that nothing has. SDKs look for its first words."""
        return validation_error(f'Could not find {self.spoken} "{self.arn(name, region=region)}".')

    def existing(self, arn: str) -> ServiceError:
        """The error for a name that is in use."""
        return validation_error(f'Cannot create already existing {self.spoken} "{arn}".')


MODEL: Final = Kind(name="model", spoken="model", in_arn="model")
CONFIG: Final = Kind(name="endpoint_config", spoken="endpoint configuration", in_arn="endpoint-config")


def create(serving: HasStore, kind: Kind, name: str, *, arn: str, body: Mapping[str, Any]) -> None:
    """`ServiceError` if the name is in use, also in other case: both resources would have the same ARN."""
    now = round(time.time(), 3)
    new = StoredResource(kind=kind.name, name=name, arn=arn, created=now, modified=now, body=body)
    if serving.store.resource_of(arn) is not None or not serving.store.add_resource(new):
        raise kind.existing(arn)


def found(serving: HasStore, kind: Kind, name: str, *, region: str) -> StoredResource:
    """The resource, or `ServiceError`."""
    resource = serving.store.resource(kind.name, name)
    if resource is None:
        raise kind.unknown(name, region=region)
    return resource


def delete(serving: HasStore, kind: Kind, call: AwsCall, member: str) -> dict[str, Any]:
    """Forget it. What was made of it stays."""
    resource = found(serving, kind, call.parameters[member], region=call.region)
    serving.store.change_resource(kind.name, resource.name, lambda _: None, at=time.time())
    return {}


# Lists: by name or by time, a page at a time.


class Listed(Protocol):
    """What lists are sorted and searched by."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def created(self) -> float:
        """Seconds since the epoch."""
        ...


Item = TypeVar("Item", bound=Listed)


def page(
    items: Iterable[Item],
    asked: Mapping[str, Any],
    *,
    member: str,
    summary: Callable[[Item], Mapping[str, Any]],
    others: Mapping[str, Callable[[Item], str]] | None = None,
) -> dict[str, Any]:
    """The answer: the newest first, ten at a time, unless it is told otherwise.

    `others`: further values of SortBy, and what they sort by.
    """
    by, descending = asked.get("SortBy", "CreationTime"), asked.get("SortOrder", "Descending") == "Descending"
    other = (others or {}).get(by)

    def key(item: Item) -> tuple[str | float, str]:
        return (item.created if by == "CreationTime" else item.name if other is None else other(item)), item.name

    fitting = sorted((each for each in items if _fits(each, asked)), key=key, reverse=descending)
    after = _after(asked.get("NextToken"))
    if after is not None:
        fitting = [each for each in fitting if (_less(key(each), after) if descending else _less(after, key(each)))]
    most = asked.get("MaxResults", _ON_A_PAGE)
    shown: Sequence[Item] = fitting[:most]
    answer: dict[str, Any] = {member: [dict(summary(each)) for each in shown]}
    if len(fitting) > most:
        answer["NextToken"] = token_of(*key(shown[-1]))
    return answer


def _less(one: tuple[str | float, str], other: tuple[str | float, str]) -> bool:
    """A token of another order is not comparable."""
    if isinstance(one[0], str) is not isinstance(other[0], str):
        raise validation_error("Invalid pagination token.")
    return one < other


def _after(token: str | None) -> tuple[str | float, str] | None:
    if token is None:
        return None
    try:
        value, name = key_of(token, str | float, str)
    except ValueError:
        raise validation_error("Invalid pagination token.") from None
    return value, name


def _fits(item: Listed, asked: Mapping[str, Any]) -> bool:
    return (
        asked.get("NameContains", "").lower() in item.name.lower()
        and item.created >= asked.get("CreationTimeAfter", float("-inf"))
        and item.created <= asked.get("CreationTimeBefore", float("inf"))
    )
