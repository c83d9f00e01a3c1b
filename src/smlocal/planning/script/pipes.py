"""Pipe channels: FIFOs that are filled by a function of the script."""

from collections.abc import Iterator

from smlocal.planning.model import HostPlan, JobPlan, PipePlan
from smlocal.planning.script.shell import here, quote

_PIPED = 1000
"""Files that one command line can name."""
_FEED = (
    "feed() {  # fill one FIFO an epoch, the next one there before the last is closed",
    '  stem=$1 e=0; shift; mkfifo -m 666 "${stem}_0"',
    "  while :; do",
    '    mkfifo -m 666 "${stem}_$((e + 1))"; cat "$@" >"${stem}_$e" 2>/dev/null || :; e=$((e + 1))',
    "  done",
    "}",
)


def feed(plan: JobPlan) -> Iterator[str]:
    """The function, where something is fed."""
    if any(piped_by_hand(pipe) for pipe in plan.pipes):
        yield from _FEED


def piped_by_hand(pipe: PipePlan) -> bool:
    """True for what `cat` can send."""
    plain = not (pipe.record_io or pipe.gzip or pipe.attributes) and pipe.seed is None
    return plain and not pipe.listing.remote and 0 < len(pipe.listing.paths) <= _PIPED


def feeders(host: HostPlan) -> Iterator[str]:
    """One for each Pipe channel of a host."""
    for pipe in host.pipes:
        listing = pipe.listing.dealt_to(pipe.shard)
        files = " ".join(quote(listing.file(index)) for index in range(len(listing.paths))) or "/dev/null"
        # In a shell that ends at once, so that nobody waits for who feeds.
        yield f'(feed {here(host, pipe.target)} {files} >/dev/null 2>&1 & echo $! >>"$W/feeders")'
