"""The names of the hosts of a recorded job."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from smlocal.job.documents import REQUEST
from smlocal.job.platform import platform_named

if TYPE_CHECKING:
    from smlocal.store.jobs import Store


def job_hosts(store: "Store", name: str) -> list[str]:
    """In host order; `JobUnknownError` if there is no such job. It may not have been prepared."""
    record = store.get(name)
    return platform_named(record.platform).host_names(record, lambda: store.document(name, REQUEST))


def host_called(store: "Store", name: str) -> Mapping[str, str]:
    """What else the platform calls a host, and the host's name here."""
    record = store.get(name)
    return platform_named(record.platform).host_called(record, lambda: store.document(name, REQUEST))
