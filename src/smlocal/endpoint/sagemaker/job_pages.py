"""Pages of jobs, as all operations that list jobs of one kind answer."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from smlocal.endpoint.call import AwsCall, HasStore, validation_error
from smlocal.endpoint.page_tokens import key_of, token_of
from smlocal.errors import JobUnknownError
from smlocal.jobs.contract.statuses import JobStatus
from smlocal.jobs.store.job_search import JobSearch, PagePosition, SortBy
from smlocal.jobs.store.records import JobRecord

_ON_A_PAGE: Final = 10
_SORTED_BY: Final[dict[str, SortBy]] = {"Name": "name", "CreationTime": "created", "Status": "status"}


def page_of_jobs(
    serving: HasStore,
    call: AwsCall,
    *,
    platform: str,
    member: str,
    summary: Callable[[JobRecord], dict[str, Any]],
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Newest first, ten at a time, as the service does unless it is told otherwise. `member` has the summaries.

    `names`: no others.
    """
    asked = call.parameters
    status = asked.get("StatusEquals")
    search = JobSearch(
        created_after=asked.get("CreationTimeAfter"),
        created_before=asked.get("CreationTimeBefore"),
        modified_after=asked.get("LastModifiedTimeAfter"),
        modified_before=asked.get("LastModifiedTimeBefore"),
        name_contains=asked.get("NameContains"),
        status=None if status is None else JobStatus(status),
        platform=platform,
        names=names,
        sort_by=_SORTED_BY[asked.get("SortBy", "CreationTime")],
        descending=asked.get("SortOrder", "Descending") == "Descending",
    )
    page = serving.store.find_page(
        search, most=asked.get("MaxResults", _ON_A_PAGE), after=position_of(asked.get("NextToken"))
    )
    summaries = []
    for record in page.jobs:
        with suppress(JobUnknownError):  # it was removed meanwhile
            summaries.append(summary(record))
    answer: dict[str, Any] = {member: summaries}
    if page.next is not None:
        answer["NextToken"] = token_of(page.next.value, page.next.number)
    return answer


def position_of(token: str | None) -> PagePosition | None:
    """The position in a token; `ServiceError` if it has none."""
    if token is None:
        return None
    try:
        value, number = key_of(token, str | float, int)
    except ValueError:
        raise _invalid_token() from None
    if abs(number) >= 1 << 63:
        raise _invalid_token()
    return PagePosition(value=value, number=number)


def _invalid_token() -> Exception:
    return validation_error("Invalid pagination token.")
