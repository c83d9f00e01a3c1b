"""Pages of lists, as the service makes them: a page is taken first, and then filtered.

Times of creation select before the page is taken. Names, statuses and other times only leave out parts of a page, so
a page may be short or empty although more follow. tests/contract/facts has the evidence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import UnionType
from typing import Any, Final, Protocol, TypeVar

from smlocal.endpoint.call import HasStore, validation_error
from smlocal.endpoint.page_tokens import key_of, token_of
from smlocal.errors import JobUnknownError
from smlocal.jobs.store.job_search import JobSearch, PagePosition, SortBy
from smlocal.jobs.store.records import JobRecord

_ON_A_PAGE: Final = 10
_COLUMNS: Final[dict[str, SortBy]] = {"Name": "name", "CreationTime": "created", "Status": "status"}
_EVER: Final = float("inf")


class Listed(Protocol):
    """What lists are sorted and filtered by."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def created(self) -> float:
        """Seconds since the epoch."""
        ...

    @property
    def modified(self) -> float:
        """Seconds since the epoch."""
        ...


Item = TypeVar("Item", bound=Listed)
Taken = tuple[Sequence[Item], str | None]
"""The items of a page before it is filtered, and the token of the next one."""


def page_of(
    taken: Taken[Item],
    asked: Mapping[str, Any],
    *,
    member: str,
    summary: Callable[[Item], Mapping[str, Any]],
    status: Callable[[Item], str] | None = None,
    fits: Callable[[Item], bool] = lambda _: True,
) -> dict[str, Any]:
    """The answer. `member` has the summaries of those that all filters leave.

    `status`: for StatusEquals. `fits`: filters that only this list has.
    """
    items, token = taken
    part, wanted = asked.get("NameContains", "").lower(), asked.get("StatusEquals")
    after, before = asked.get("LastModifiedTimeAfter", -_EVER), asked.get("LastModifiedTimeBefore", _EVER)
    shown = []
    for item in items:
        of_status = wanted is None or status is None or status(item) == wanted
        if part in item.name.lower() and of_status and after < item.modified < before and fits(item):
            with suppress(JobUnknownError):  # it was removed meanwhile
                shown.append(dict(summary(item)))
    return {member: shown, **({"NextToken": token} if token is not None else {})}


def take_jobs(serving: HasStore, asked: Mapping[str, Any], *, platform: str) -> Taken[JobRecord]:
    """Jobs of one kind: the newest first, ten at a time, unless it is told otherwise."""
    search = JobSearch(
        created_after=asked.get("CreationTimeAfter"),
        created_before=asked.get("CreationTimeBefore"),
        platform=platform,
        sort_by=_COLUMNS[asked.get("SortBy", "CreationTime")],
        descending=asked.get("SortOrder", "Descending") == "Descending",
    )
    page = serving.store.find_page(
        search, most=asked.get("MaxResults", _ON_A_PAGE), after=position_of(asked.get("NextToken"))
    )
    return page.jobs, None if page.next is None else token_of(page.next.value, page.next.number)


def take(
    items: Iterable[Item],
    asked: Mapping[str, Any],
    *,
    others: Mapping[str, Callable[[Item], str | float]] | None = None,
    by: str = "CreationTime",
    order: str = "Descending",
) -> Taken[Item]:
    """The same of items that are all in memory.

    `others`: further values of SortBy, and what they sort by. `by`, `order`: how it is sorted unless told otherwise.
    """
    orders: dict[str, Callable[[Item], str | float]] = {
        "Name": lambda item: item.name,
        "CreationTime": lambda item: item.created,
        **(others or {}),
    }
    value, descending = orders[asked.get("SortBy", by)], asked.get("SortOrder", order) == "Descending"

    def key(item: Item) -> tuple[str | float, str]:
        return value(item), item.name

    since, until = asked.get("CreationTimeAfter", -_EVER), asked.get("CreationTimeBefore", _EVER)
    selected = sorted((each for each in items if since <= each.created <= until), key=key, reverse=descending)
    if asked.get("NextToken") is not None:
        last = key_in(asked["NextToken"], str | float, str)
        selected = [each for each in selected if _follows(key(each), last, descending=descending)]
    most = asked.get("MaxResults", _ON_A_PAGE)
    return selected[:most], token_of(*key(selected[most - 1])) if len(selected) > most else None


def _follows(key: tuple[str | float, str], last: tuple[Any, ...], *, descending: bool) -> bool:
    """A token of another order is not comparable."""
    if isinstance(key[0], str) is not isinstance(last[0], str):
        raise _invalid_token()
    return key < last if descending else last < key


def offset_in(token: str | None) -> int:
    """The number of items before a page of a list that is sorted anew each time."""
    if token is None:
        return 0
    (offset,) = key_in(token, int)
    if offset < 0:
        raise _invalid_token()
    return int(offset)


def position_of(token: str | None) -> PagePosition | None:
    """The position of jobs in a token; `ServiceError` if it has none."""
    if token is None:
        return None
    value, number = key_in(token, str | float, int)
    if abs(number) >= 1 << 63:
        raise _invalid_token()
    return PagePosition(value=value, number=number)


def key_in(token: str, *kinds: type | UnionType) -> tuple[Any, ...]:
    """The key in a token, or `ServiceError`."""
    try:
        return key_of(token, *kinds)
    except ValueError:
        raise _invalid_token() from None


def _invalid_token() -> Exception:
    return validation_error("Invalid pagination token.")
