"""The logs of a job as lines of text."""

from collections.abc import Iterator, Mapping

from smlocal.api.log_pieces import log_pieces
from smlocal.contract.log_view import LogView
from smlocal.errors import UsageRefusedError
from smlocal.job.logs.job_logs import host_logs
from smlocal.store.jobs import Store


def chosen_logs(store: Store, name: str, host: str | None) -> dict[str, str]:
    """The file of each host, or of the one that is named."""
    logs = dict(host_logs(store, name))
    if host is None:
        return logs
    if host not in logs:
        raise UsageRefusedError(f"the job {name} has no host {host}; it has {', '.join(logs)}")
    return {host: logs[host]}


def lines(store: Store, name: str, logs: Mapping[str, str], *, follow: bool, raw: bool) -> Iterator[str]:
    """Lines without their ends, each with its host in front where there are several."""
    views = {host: LogView() for host in logs}
    rests = dict.fromkeys(logs, b"")
    marks = {host: f"{host} | " if len(logs) > 1 else "" for host in logs}
    for host, _, piece in log_pieces(store, name, logs, follow=follow):
        shown = piece if raw else views[host].feed(piece, last=not piece)
        *whole, rests[host] = (rests[host] + shown).split(b"\n")
        yield from (marks[host] + line.decode(errors="replace") for line in whole)
        if not piece and rests[host]:
            yield marks[host] + rests[host].decode(errors="replace")
