"""Where the logs of a job are."""

import os

from smlocal.store.jobs import Store


def host_logs(store: Store, name: str) -> list[tuple[str, str]]:
    """Host and file of every log there is, in host order; an unknown job is an error."""
    store.get(name)
    folder = os.path.join(store.directory(name), "logs")
    try:
        hosts = [entry.removesuffix(".log") for entry in os.listdir(folder) if entry.endswith(".log")]
    except FileNotFoundError:
        return []
    return [(host, os.path.join(folder, f"{host}.log")) for host in sorted(hosts, key=_number)]


def _number(host: str) -> int:
    return int(host.rpartition("-")[2])
