"""The details that are shown beside a phase when it has ended."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smlocal.artifacts.job_artifacts import Artifacts
from smlocal.channels.interface import Means
from smlocal.contract.failures import FailureKind
from smlocal.contract.listing import Listing
from smlocal.job.decide.attempt_outcome import AttemptOutcome
from smlocal.job.host.host_run import HostRun
from smlocal.planning.model import JobPlan
from smlocal.readable import readable_bytes

if TYPE_CHECKING:
    from smlocal.artifacts.s3_publish import PublishResult

_HOW = {
    Means.OVERLAY: "copy-on-write of",
    Means.REFLINK: "reflink copy of",
    Means.COPY: "copy of",
    Means.BIND: "view of",
    Means.SENT: "sent from",
    Means.FUSE: "streamed from",
}


def downloaded(plan: JobPlan, runs: Iterable[HostRun]) -> str:
    """Each channel with its size and how it was brought."""
    parts: dict[str, str] = {}
    for run in runs:
        trees = [*run.host.channels, *([plan.code] if plan.code is not None else [])]
        for tree, staged in zip(trees, run.staged, strict=False):
            parts.setdefault(tree.name, _part(tree.name, tree.listing, _HOW[staged.means], file_system=tree.mode))
        for pipe in run.host.pipes:
            parts.setdefault(pipe.name, _part(pipe.name, pipe.listing, "piped from"))
    return " · ".join(parts.values())


def _part(name: str, listing: Listing, how: str, *, file_system: str = "") -> str:
    count = len(listing.paths)
    size = "" if listing.total_bytes is None else f", {readable_bytes(listing.total_bytes)}"
    if listing.remote:
        where = listing.bucket_uri + listing.prefix
    else:
        where = os.path.relpath(listing.root)
        where = where if where.startswith("..") else f"./{where}"
        if not listing.whole_tree:
            where = f"{where}/{listing.paths[0]}" if count == 1 else f"some of {where}"
    if file_system == "FileSystem":
        return f"{name}: {where} itself"
    kind = "object" if listing.remote else "file"
    return f"{name}: {count} {kind}{'s' * (count != 1)}{size}, {how} {where}"


def ended(outcome: AttemptOutcome) -> str:
    """Exit codes."""
    if not outcome.ends:
        return "could not start" if outcome.failure is not None and outcome.failure.kind is FailureKind.START else ""
    if len(outcome.ends) == 1:
        (end,) = outcome.ends
        how = "killed after SIGTERM" if end.killed else f"exit {end.exit_code}"
        return f"{how}, out of memory" if end.oom_killed else how
    if outcome.first_failure is None:
        return ", ".join(f"{end.host} exit {end.exit_code}" for end in sorted(outcome.ends, key=lambda end: end.host))
    parts = []
    for end in outcome.ends:
        after = " (first)" if end.host == outcome.first_failure else " stopped after it," if end.signalled else ""
        parts.append(
            f"{end.host}{after} exit {end.exit_code}" if end.signalled else f"{end.host} exit {end.exit_code}{after}"
        )
    return "; ".join(parts)


def uploaded(artifacts: Artifacts | None, published: "PublishResult | None" = None) -> str:
    """The archives with their sizes, and whether they are in S3."""
    if artifacts is None:
        return "no artifacts could be written"
    if published is not None and (published.failure is not None or published.cancelled):
        return f"{uploaded(artifacts)}; {published.failure or 'the upload was interrupted'}"
    if published is not None and published.objects:
        return f"{uploaded(artifacts)}, uploaded to {os.path.dirname(published.objects[0].uri)}/"
    found = [(artifacts.model, artifacts.model_bytes), (artifacts.output, artifacts.output_bytes)]
    parts = [f"{os.path.basename(path)} {readable_bytes(size)}" for path, size in found if path is not None]
    return ", ".join(parts) or "no artifacts"
