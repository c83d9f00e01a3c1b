"""The end of a run in a few lines: first the reason, then where the results are and what to do."""

import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.cli.terminal.colour import BOLD, GREEN, RED, YELLOW, paint
from smlocal.cli.terminal.columns import row, width_of, wrapped
from smlocal.cli.terminal.printable import printable
from smlocal.cli.views.last_lines import last_lines, without_repetition
from smlocal.contract.statuses import JobStatus
from smlocal.job.view import JobView
from smlocal.readable import readable_bytes, short_path

COLOURS: Mapping[str, str] = {
    JobStatus.COMPLETED: f"{BOLD};{GREEN}",
    JobStatus.FAILED: f"{BOLD};{RED}",
    JobStatus.STOPPED: f"{BOLD};{YELLOW}",
}
"""Of the whole word, and bold: only the marks of the phases above it have a colour."""
_STILL_VISIBLE = 20
"""So many lines of several hosts are still visible on the screen, and are not shown again."""
_WARNING = "!"
_ARTIFACT_NOTES = 5


def summary(view: JobView, *, lines_shown: int | None = None) -> str:
    """The text. `lines_shown`: the lines of output above it; None if the output went elsewhere."""
    # The last lines of a single host are right above. With several hosts, others may have written after the failed one.
    visible = lines_shown is not None and (len(view.local["Hosts"]) == 1 or lines_shown <= _STILL_VISIBLE)
    return "\n".join(_lines(view, output_visible=visible))


def failure(state: str, reason: str) -> str:
    """The reason of a failed job: `Failed: AlgorithmError: …`."""
    first, *more = printable(reason).splitlines() or [""]
    width = width_of(sys.stderr)
    lines = [*wrapped(first, indent=len(f"{state}: "), width=width)]
    lines += (each for line in more for each in row("  ", line, width=width))
    return f"{paint(state, COLOURS[JobStatus.FAILED])}: " + "\n".join(lines)


def _lines(view: JobView, *, output_visible: bool) -> Iterator[str]:
    local = view.local
    last = last_lines(local) if view.status is JobStatus.FAILED else None
    if view.status is JobStatus.FAILED:
        above = output_visible and last is not None and last.have(view.reason)
        yield failure(view.state, without_repetition(view.reason) if above else view.reason)
    else:
        why = f" ({view.why})" if view.why else ""
        yield f"{paint(view.state, COLOURS.get(view.status, BOLD))}{why} in {view.seconds:.1f} s"
    yield from _explanations(view)
    if last is not None and not output_visible and (shown := last.shown(view.reason)):
        yield f"Last lines of {last.host}"
        yield textwrap.indent("\n".join(shown), "  ")
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
    if local["Notes"]:
        ways = "1 known way" if len(local["Notes"]) == 1 else f"{len(local['Notes'])} known ways"
        yield item("differs", f"from the service in {ways}, which smlocal describe shows")
    if local.get("DockerCommand"):
        yield f"  {'by hand':<9} {printable(local['DockerCommand'])}"  # in one line, to be pasted
    yield item("next", " · ".join(f"smlocal {each}" for each in _next(view)))


def _next(view: JobView) -> Iterator[str]:
    """What one may want to do now."""
    if view.status is not JobStatus.COMPLETED:
        yield f"logs {view.name}"
    yield f"describe {view.name}"
    if view.status is JobStatus.COMPLETED:
        yield f"report {view.name} --html report.html"
    elif view.status is JobStatus.FAILED and (view.shell or view.local.get("ContainersKept")):
        yield f"shell {view.name}"


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


def _artifacts(local: Mapping[str, Any], name: str) -> Iterator[str]:
    artifacts = local["Artifacts"]
    for kind in ("Model", "Output"):
        if artifacts[kind]:
            size = readable_bytes(artifacts[f"{kind}Bytes"])
            yield item(kind.lower(), f"{short_path(artifacts[kind])}  {size}")
    if artifacts.get("Kept"):
        yield item("kept", f"{short_path(artifacts['Kept'])}  not packed yet: smlocal pack {name} --output DIR")
    for path, kept in artifacts.get("NotSaved", {}).items():
        yield item("kept", f"{short_path(kept)}  {path}, not saved yet: smlocal pack {name} --output DIR")
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
