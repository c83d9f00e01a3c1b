"""The describe answer of a job, with the `Local` block of what is only known on this machine."""

from typing import Any

from smlocal.job.documents import DECISION, FINAL_METRICS, LOCAL, RECALL, REQUEST, RULES
from smlocal.job.finish.kept import is_kept
from smlocal.job.platform import platform_named
from smlocal.job.view import JobView
from smlocal.planning.recall import engine_of_each_host
from smlocal.store.jobs import Store
from smlocal.store.records import JobRecord, StoredJob


def describe_job(store: Store, name: str, *, service: bool = False, final: bool = False) -> dict[str, Any]:
    """The answer of `smlocal describe NAME`; with `service`, only what the platform itself would answer.

    `final`: the last document of a job, for those who do not ask again. It has what the platform adds after the end.
    """
    stored = _read(store, name)
    if service:
        return platform_named(stored.record.platform).describe(stored, final=final)
    return _described(store, stored, final=final)


def list_entry(store: Store, record: JobRecord) -> tuple[str, dict[str, Any]]:
    """The name of the platform's list of jobs, and the job in it."""
    return platform_named(record.platform).listed(record, lambda: _read(store, record.name))


def view_job(store: Store, name: str, *, final: bool = False) -> JobView:
    """What the screens show of a job; `final` as above."""
    stored = _read(store, name)
    return platform_named(stored.record.platform).view(stored, _described(store, stored, final=final))


def _read(store: Store, name: str) -> StoredJob:
    platform = platform_named(store.get(name).platform)
    return store.read(name, (REQUEST, LOCAL, RULES, *platform.documents))


def _described(store: Store, stored: StoredJob, *, final: bool) -> dict[str, Any]:
    platform, local = platform_named(stored.record.platform), stored.documents.get(LOCAL, {})
    directory = store.directory(stored.record.name)
    return {
        **platform.describe(stored, final=final),
        "Local": {
            "Version": 1,
            "SupervisorPid": stored.record.supervisor_pid,
            "Directory": directory,
            "Request": platform.request_only(stored.documents[REQUEST]),
            **_placement(store, stored.record),
            **({} if final else platform.still_to_come(stored)),
            **({"ContainersKept": True} if is_kept(directory) else {}),
            **{key: value for key, value in local.items() if key not in {DECISION, FINAL_METRICS}},
        },
    }


def _placement(store: Store, record: JobRecord) -> dict[str, Any]:
    """Of a job on several engines that has been planned."""
    engines = engine_of_each_host(store.document(record.name, RECALL)) if record.instances > 1 else {}
    return {"Placement": engines} if engines else {}
