"""Where the logs of a job are."""

import os
from typing import TYPE_CHECKING

from smlocal.job.host_names import job_hosts

if TYPE_CHECKING:
    from smlocal.store.jobs import Store


def log_path(job_directory: str, host: str) -> str:
    """The log of one host, with the bytes that its container wrote."""
    return f"{job_directory}/logs/{host}.log"


def logged_by(job_directory: str, host: str) -> int:
    """The present size of the log of a host."""
    try:
        return os.path.getsize(log_path(job_directory, host))
    except OSError:
        return 0


def host_logs(store: "Store", name: str) -> dict[str, str]:
    """By host, in host order: the path of its log. A file exists once its host has started."""
    directory = store.directory(name)
    return {host: log_path(directory, host) for host in job_hosts(store, name)}
