"""ListTrainingJobs."""

from typing import Any

from smlocal.contract.statuses import JobStatus
from smlocal.platforms.sagemaker.name import NAME
from smlocal.server.call import Call, HasStore, validation_error
from smlocal.server.page_tokens import key_of, token_of
from smlocal.store.job_search import JobSearch, PagePosition, SortBy
from smlocal.store.records import JobRecord

_USUAL_MOST = 10
_SORTED_BY: dict[str, SortBy] = {"Name": "name", "CreationTime": "created", "Status": "status"}


def list_training_jobs(serving: HasStore, call: Call) -> dict[str, Any]:
    """Newest first, ten at a time, as the service does unless it is told otherwise."""
    asked = call.parameters
    status = asked.get("StatusEquals")
    search = JobSearch(
        created_after=asked.get("CreationTimeAfter"),
        created_before=asked.get("CreationTimeBefore"),
        modified_after=asked.get("LastModifiedTimeAfter"),
        modified_before=asked.get("LastModifiedTimeBefore"),
        name_contains=asked.get("NameContains"),
        status=None if status is None else JobStatus(status),
        platform=NAME,
        sort_by=_SORTED_BY[asked.get("SortBy", "CreationTime")],
        descending=asked.get("SortOrder", "Descending") == "Descending",
    )
    if asked.get("WarmPoolStatusEquals") is not None:
        return {"TrainingJobSummaries": []}  # no job has a warm pool here
    page = serving.store.find_page(
        search, most=asked.get("MaxResults", _USUAL_MOST), after=position_of(asked.get("NextToken"))
    )
    answer: dict[str, Any] = {"TrainingJobSummaries": [_summary(record) for record in page.jobs]}
    if page.next is not None:
        answer["NextToken"] = token_of(page.next.value, page.next.number)
    return answer


def _summary(record: JobRecord) -> dict[str, Any]:
    summary = {
        "TrainingJobName": record.name,
        "TrainingJobArn": record.arn,
        "CreationTime": record.created,
        "LastModifiedTime": record.modified,
        "TrainingJobStatus": record.status,
        "SecondaryStatus": record.phase,
    }
    if record.status.terminal:
        summary["TrainingEndTime"] = record.modified if record.ended is None else record.ended
    return summary


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
