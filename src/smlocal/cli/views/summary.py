"""The end of a run in a few lines: first the reason, then where the results are and what to do."""

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.cli.terminal.colour import BOLD, GREEN, RED, YELLOW, paint
from smlocal.cli.terminal.columns import row, shortened, width_of, wrapped
from smlocal.cli.terminal.printable import printable, without_colours
from smlocal.contract.statuses import JobStatus
from smlocal.job.view import JobView
from smlocal.readable import readable_bytes, short_path

COLOURS: Mapping[str, str] = {JobStatus.COMPLETED: GREEN, JobStatus.FAILED: RED, JobStatus.STOPPED: YELLOW}
_LAST_LINES = 20
_STILL_VISIBLE = 20
"""So many lines of output are still visible on the screen, and are not shown again."""
_TAIL = 1 << 14
"""Bytes of the log that these lines are looked for in."""
_WARNING = "!"
_NOTES = 3
_COLUMN = 12
_LEAST_NOTE = 40
"""Characters of a difference, on a narrow terminal."""
_ARTIFACT_NOTES = 5
_ONLY_IN_PLAN = "relaxed-"
"""Only the plan mentions what is missing in the job file, not the end of each run."""


def summary(view: JobView, *, lines_shown: int | None = None) -> str:
    """The text. `lines_shown`: the lines of output above it."""
    return "\n".join(_lines(view, show_output=lines_shown is None or lines_shown > _STILL_VISIBLE))


def failure(state: str, reason: str) -> str:
    """The reason of a failed job: `Failed: AlgorithmError: …`."""
    first, *more = printable(reason).splitlines() or [""]
    width = width_of(sys.stderr)
    lines = [*wrapped(first, indent=len(f"{state}: "), width=width)]
    lines += (each for line in more for each in row("  ", line, width=width))
    return f"{paint(state, RED)}: " + "\n".join(lines)


def _lines(view: JobView, *, show_output: bool) -> Iterator[str]:
    local, failed = view.local, view.status is JobStatus.FAILED
    if failed:
        yield failure(view.state, view.reason)
    else:
        why = f" ({view.why})" if view.why else ""
        yield f"{paint(view.state, COLOURS.get(view.status, BOLD))}{why} in {view.seconds:.1f} s"
    yield from _explanations(view)
    if failed and show_output:
        yield from _last_lines(local)
    yield from _artifacts(local, view.name)
    yield from (item(each.name, f"{short_path(each.folder)}  {each.location}") for each in view.outputs)
    if view.status is JobStatus.COMPLETED:
        yield from (item(*each, mark=_WARNING) for each in view.unexpected)
    yield from _metrics(view.answer)
    yield from _usage(local)
    for left in local["Leftovers"]:
        yield item("left", left)
    if local.get("ContainersKept"):
        yield item("kept", f"the containers and their folders, until smlocal rm {view.name}")
    if failed:
        commands = ("logs", "describe", *(["shell"] if view.shell or local.get("ContainersKept") else []))
        yield item("more", " · ".join(f"smlocal {each} {view.name}" for each in commands))
    if local.get("DockerCommand"):
        yield f"  {'by hand':<9} {printable(local['DockerCommand'])}"  # in one line, to be pasted
    yield from _differences(local, view.name)


def _explanations(view: JobView) -> Iterator[str]:
    """Why the job ended so, where the service's reason does not say it."""
    if view.status is JobStatus.FAILED:
        if view.local["Explanation"]:
            yield item("because", view.local["Explanation"])
        yield from (item(*each) for each in view.notes)
    elif view.reason:
        yield item("reason", view.reason)
    for hint in view.local["Hints"]:
        yield item("hint", hint)


def item(name: str, text: str, *, mark: str = " ") -> str:
    """One row below the first line."""
    rows = "\n".join(row(f"  {name:<9} ", printable(text), width=width_of(sys.stderr)))
    return rows if mark == " " else paint(mark, YELLOW) + rows[1:]


def _last_lines(local: Mapping[str, Any]) -> Iterator[str]:
    """Of the host whose failure is the reason; others fail after it, or because of it."""
    for host in local["Hosts"]:
        if host["Name"] != local["FailedHost"] or not host["Log"]:
            continue
        try:
            with open(host["Log"], "rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
                text = without_colours(log.read().decode("utf-8", errors="replace"))
                lines = [printable(line) for line in text.splitlines()[-_LAST_LINES:]]
        except OSError:
            continue
        if lines:
            yield f"Last lines of {host['Name']}"
            yield textwrap.indent("\n".join(lines), "  ")


def _artifacts(local: Mapping[str, Any], name: str) -> Iterator[str]:
    artifacts = local["Artifacts"]
    for kind in ("Model", "Output"):
        if artifacts[kind]:
            size = readable_bytes(artifacts[f"{kind}Bytes"])
            yield item(kind.lower(), f"{short_path(artifacts[kind])}  {size}")
    if artifacts.get("Kept"):
        yield item("kept", f"{short_path(artifacts['Kept'])}  not packed yet: smlocal pack {name} --output DIR")
    for note in artifacts["Notes"][:_ARTIFACT_NOTES]:
        yield item("note", note)
    more = len(artifacts["Notes"]) - _ARTIFACT_NOTES
    if more > 0:
        yield item("", f"and {more} more: smlocal describe {name} shows them all")


def _metrics(answer: Mapping[str, Any]) -> Iterator[str]:
    if not answer["Local"].get("Metrics"):
        return
    from smlocal.cli.views.metric_lines import metric_lines

    yield from (item(name, text) for name, text in metric_lines(answer))


def _usage(local: Mapping[str, Any]) -> Iterator[str]:
    if not local.get("Usage"):
        return
    from smlocal.cli.views.usage_lines import summary_lines  # of a job that took long enough to be measured

    yield from (item(name, text) for name, text in summary_lines(local["Usage"]))


def _differences(local: Mapping[str, Any], name: str) -> Iterator[str]:
    """The first few, each in one line; `describe` has all of them."""
    notes = [note["Text"] for note in local["Notes"] if _is_shown(note)]
    width = width_of(sys.stderr)
    lines = [note if width is None else shortened(note, max(_LEAST_NOTE, width - _COLUMN)) for note in notes[:_NOTES]]
    for index, line in enumerate(lines):
        yield item("differs" if index == 0 else "", line)
    more = len(notes) - len(lines)
    if more:
        yield item("", f"and {more} more: smlocal describe {name}")
    elif lines != notes:
        yield item("", f"in full: smlocal describe {name}")


def _is_shown(note: Mapping[str, Any]) -> bool:
    return not note["Warning"] and not note["Id"].startswith(_ONLY_IN_PLAN)
