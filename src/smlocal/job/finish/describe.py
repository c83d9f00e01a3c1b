"""The describe answer of a job, with the `Local` block of what is only known on this machine."""

from typing import Any

from smlocal.job.documents import DECISION, FINAL_METRICS, LOCAL, REQUEST, RULES
from smlocal.job.finish.kept import is_kept
from smlocal.job.platform import platform_named
from smlocal.store.jobs import Store


def describe_job(store: Store, name: str, *, service: bool = False) -> dict[str, Any]:
    """The answer of `smlocal describe NAME`; with `service`, only what the platform itself would answer."""
    platform = platform_named(store.get(name).platform)
    stored = store.read(name, (REQUEST, LOCAL, RULES, *platform.documents))
    record, request, local = stored.record, stored.documents[REQUEST], stored.documents.get(LOCAL, {})
    answer = platform.describe(stored)
    if not service:
        answer["Local"] = {
            "Version": 1,
            "SupervisorPid": record.supervisor_pid,
            "Directory": store.directory(name),
            "Request": platform.request_only(request),
            **({"ContainersKept": True} if is_kept(store.directory(name)) else {}),
            **{key: value for key, value in local.items() if key not in {DECISION, FINAL_METRICS}},
        }
    return answer
