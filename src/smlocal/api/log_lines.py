"""The logs of a job as lines of text."""

from collections.abc import Iterator, Mapping

from smlocal.api.log_pieces import log_pieces
from smlocal.contract.log_view import LogView


def log_lines(name: str, logs: Mapping[str, str], *, follow: bool, raw: bool, home: str) -> Iterator[str]:
    """Lines without their ends, with the host in front if there are several."""
    views = {host: LogView() for host in logs}
    rests = dict.fromkeys(logs, b"")
    prefixes = {host: f"{host} | " if len(logs) > 1 else "" for host in logs}
    for host, _, piece in log_pieces(name, logs, follow=follow, home=home):
        shown = piece if raw else views[host].feed(piece, last=not piece)
        *whole, rests[host] = (rests[host] + shown).split(b"\n")
        yield from (prefixes[host] + line.decode(errors="replace") for line in whole)
        if not piece and rests[host]:
            yield prefixes[host] + rests[host].decode(errors="replace")
