"""What a phase brought, in the few words that stand beside it on the screen."""

import os
from collections.abc import Iterable

from smlocal.artifacts.collect import Artifacts
from smlocal.channels.interface import Means
from smlocal.job.host_run import HostRun
from smlocal.job.outcome import Story
from smlocal.job.sizes import readable_bytes
from smlocal.plan.model import JobPlan

_HOW = {Means.OVERLAY: "copy-on-write of", Means.REFLINK: "reflink copy of", Means.COPY: "copy of"}


def downloaded(plan: JobPlan, runs: Iterable[HostRun]) -> str:
    """Each channel with its size and how it got there."""
    first = next(iter(runs), None)
    if first is None or not first.staged:
        return ""
    trees = [*first.host.channels, *([plan.code] if plan.code is not None else [])]
    parts = []
    for tree, staged in zip(trees, first.staged, strict=True):
        count = len(tree.listing.paths)
        size = "" if tree.listing.total_bytes is None else f", {readable_bytes(tree.listing.total_bytes)}"
        where = os.path.relpath(tree.listing.root)
        shown = where if where.startswith("..") else f"./{where}"
        if not tree.listing.whole_tree:
            shown = f"{shown}/{tree.listing.paths[0]}" if count == 1 else f"some of {shown}"
        parts.append(f"{tree.name}: {count} file{'s' * (count != 1)}{size}, {_HOW[staged.means]} {shown}")
    return " · ".join(parts)


def ended(story: Story) -> str:
    """Exit codes: one number for one host, the first failure first for several."""
    if not story.ends:
        return "could not start" if story.start_error is not None else ""
    if len(story.ends) == 1:
        (end,) = story.ends
        how = "killed after SIGTERM" if end.killed else f"exit {end.exit_code}"
        return f"{how}, out of memory" if end.oom_killed else how
    if story.first_failure is None:
        return ", ".join(f"{end.host} exit {end.exit_code}" for end in sorted(story.ends, key=lambda end: end.host))
    parts = []
    for end in story.ends:
        after = " (first)" if end.host == story.first_failure else " stopped after it," if end.signalled else ""
        parts.append(
            f"{end.host}{after} exit {end.exit_code}" if end.signalled else f"{end.host} exit {end.exit_code}{after}"
        )
    return "; ".join(parts)


def uploaded(artifacts: Artifacts | None) -> str:
    """The archives with their sizes."""
    if artifacts is None:
        return "nothing could be written"
    found = [(artifacts.model, artifacts.model_bytes), (artifacts.output, artifacts.output_bytes)]
    parts = [f"{os.path.basename(path)} {readable_bytes(size)}" for path, size in found if path is not None]
    return ", ".join(parts) or "nothing was written"
