"""What is shown of a job."""

import os.path
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.job.documents import PLAN, REQUEST
from smlocal.job.view import JobView, Output
from smlocal.platforms.ai_platform.answer import kind_of, state_word
from smlocal.platforms.ai_platform.locations import output_locations
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.run.stored_lifecycle import LIFECYCLE
from smlocal.store.records import StoredJob

_MEMBERS = {
    JobKind.TRAINING_JOB: ("jobId", "state", "errorMessage"),
    JobKind.CUSTOM_JOB: ("name", "displayName", "state", "error"),
}


def view_of(stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
    """From the answer with its `Local` block. The reason is known here before the service would say it."""
    record, kind = stored.record, kind_of(stored.record)
    error = (stored.documents.get(LIFECYCLE) or {}).get("Error") or {}
    reason = record.failure_reason or error.get("message", "") if record.status.terminal else ""
    return JobView(
        name=record.name,
        status=record.status,
        state=state_word(record, kind),
        why="",
        reason=reason,
        seconds=record.modified - record.created,
        members={**{each: answer.get(each) for each in _MEMBERS[kind]}, "Reason": reason or None},
        answer=answer,
        shell=False,
        outputs=tuple(_outputs(kind, stored.documents[REQUEST], stored.documents.get(PLAN) or {})),
    )


def _outputs(kind: JobKind, request: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[Output]:
    mounts = [mount for host in plan.get("Hosts", ())[:1] for mount in host["Mounts"]]
    for location in output_locations(kind, request):
        for mount in reversed(mounts):  # a folder comes after the one that it is in
            inside = f"{location.rstrip('/')}/".removeprefix(f"{mount['Uri']}/")
            if not inside.startswith("gs://"):
                yield Output(name="output", folder=os.path.join(mount["Source"], inside).rstrip("/"), location=location)
                break
