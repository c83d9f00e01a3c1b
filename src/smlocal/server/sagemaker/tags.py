"""AddTags, ListTags and DeleteTags, for training jobs."""

from typing import Any

from smlocal.errors import JobUnknownError
from smlocal.job.documents import REQUEST
from smlocal.server.call import Call, validation_error
from smlocal.server.sagemaker.describing import unknown_job
from smlocal.server.serving import Serving

_MOST = 50


def add_tags(serving: Serving, call: Call) -> dict[str, Any]:
    """Answers all tags of the job."""
    new = {tag["Key"]: tag["Value"] for tag in call.parameters["Tags"]}
    return {"Tags": _change(serving, call, lambda tags: {**tags, **new})}


def delete_tags(serving: Serving, call: Call) -> dict[str, Any]:
    """Keys that the job does not have are no error."""
    gone = set(call.parameters["TagKeys"])
    _change(serving, call, lambda tags: {key: value for key, value in tags.items() if key not in gone})
    return {}


def list_tags(serving: Serving, call: Call) -> dict[str, Any]:
    """All on one page: a job has at most fifty."""
    return {"Tags": tags_of(serving.store.document(_job(serving, call), REQUEST))}


def tags_of(request: Any) -> list[dict[str, str]]:
    """Of a recorded request."""
    return list(request.get("Tags") or [])


def _change(serving: Serving, call: Call, change: Any) -> list[dict[str, str]]:
    def changed(request: dict[str, Any]) -> dict[str, Any]:
        tags = change({tag["Key"]: tag["Value"] for tag in tags_of(request)})
        if len(tags) > _MOST:
            raise validation_error(f"The number of tags exceeds the limit of {_MOST} for a resource.")
        return {**request, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}

    return tags_of(serving.store.change_document(_job(serving, call), REQUEST, changed))


def _job(serving: Serving, call: Call) -> str:
    try:
        return serving.store.name_of(call.parameters["ResourceArn"])
    except JobUnknownError:
        raise unknown_job() from None
