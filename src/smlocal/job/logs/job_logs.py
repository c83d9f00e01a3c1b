"""Where the logs of a job are."""

from smlocal.job.finish.describe import PLAN
from smlocal.job.logs.log_paths import log_path
from smlocal.store.jobs import Store


def host_logs(store: Store, name: str) -> list[tuple[str, str]]:
    """Host and file of every log, in host order; a file is there once its host has started. Unknown: an error."""
    plan = store.document(name, PLAN)
    directory = store.directory(name)
    return [(host["Name"], log_path(directory, host["Name"])) for host in plan["Hosts"]]
