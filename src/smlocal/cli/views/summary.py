"""The end of a run in a few lines: first the reason, then where the results are and what to do."""

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.cli.terminal.colour import BOLD, GREEN, RED, YELLOW, paint
from smlocal.cli.terminal.columns import row, short_path, shortened, width_of, wrapped
from smlocal.cli.terminal.printable import printable, without_colours
from smlocal.readable import readable_bytes

COLOURS = {"Completed": GREEN, "Failed": RED, "Stopped": YELLOW}
_LAST_LINES = 20
_STILL_VISIBLE = 20
"""So many lines of output are still visible on the screen, and are not shown again."""
_TAIL = 1 << 14
"""Bytes of the log that these lines are looked for in."""
_NOTES = 3
_COLUMN = 12
_LEAST_NOTE = 40
"""Characters of a difference, on a narrow terminal."""
_ARTIFACT_NOTES = 5
EMPTY_REASON = "AlgorithmError: , exit code: "
NO_TEXT = "The reason has no text, because nothing was written to /opt/ml/output/failure."
_ONLY_IN_PLAN = "relaxed-"
"""Only the plan mentions what is missing in the job file, not the end of each run."""


def summary(answer: Mapping[str, Any], *, lines_shown: int | None = None) -> str:
    """The text. `lines_shown`: the lines of output above it."""
    return "\n".join(_lines(answer, show_output=lines_shown is None or lines_shown > _STILL_VISIBLE))


def failure(answer: Mapping[str, Any]) -> str:
    """The reason of a failed job: `Failed: AlgorithmError: …`."""
    first, *more = printable(answer["FailureReason"]).splitlines() or [""]
    width = width_of(sys.stderr)
    lines = [*wrapped(first, indent=len("Failed: "), width=width)]
    lines += (each for line in more for each in row("  ", line, width=width))
    return f"{paint('Failed', RED)}: " + "\n".join(lines)


def _lines(answer: Mapping[str, Any], *, show_output: bool) -> Iterator[str]:
    status, local = answer["TrainingJobStatus"], answer["Local"]
    seconds = answer["LastModifiedTime"] - answer["CreationTime"]
    head = paint(status, COLOURS.get(status, BOLD))
    failed = status == "Failed"
    if failed:
        yield failure(answer)
    else:
        why = f" ({answer['SecondaryStatus']})" if answer["SecondaryStatus"] != status else ""
        yield f"{head}{why} in {seconds:.1f} s"
    yield from _explanations(answer)
    if failed and show_output:
        yield from _last_lines(local)
    yield from _artifacts(local, answer["TrainingJobName"])
    if status == "Completed":
        yield from _no_model(local["Artifacts"])
    yield from _metrics(answer)
    yield from _usage(local)
    for left in local["Leftovers"]:
        yield item("left", left)
    name = answer["TrainingJobName"]
    if local.get("ContainersKept"):
        yield item("kept", f"the containers and their folders, until smlocal rm {name}")
    if failed:
        yield item("more", f"smlocal logs {name} · smlocal describe {name} · smlocal shell {name}")
    if local.get("DockerCommand"):
        yield f"  {'by hand':<9} {printable(local['DockerCommand'])}"  # in one line, to be pasted
    yield from _differences(answer)


def _explanations(answer: Mapping[str, Any]) -> Iterator[str]:
    """Why the job ended so, where the service's reason does not say it."""
    local = answer["Local"]
    if answer["TrainingJobStatus"] == "Failed":
        if local["Explanation"]:
            yield item("because", local["Explanation"])
        if answer["FailureReason"].startswith(EMPTY_REASON):
            yield item("note", NO_TEXT)
    for hint in local["Hints"]:
        yield item("hint", hint)


def _no_model(artifacts: Mapping[str, Any]) -> Iterator[str]:
    if not artifacts["Model"] and not artifacts.get("Kept"):
        yield item("model", "none: nothing was left in /opt/ml/model")


def item(name: str, text: str) -> str:
    """One row below the first line."""
    return "\n".join(row(f"  {name:<9} ", printable(text), width=width_of(sys.stderr)))


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


def _differences(answer: Mapping[str, Any]) -> Iterator[str]:
    """The first few, each in one line; `describe` has all of them."""
    notes = [note["Text"] for note in answer["Local"]["Notes"] if _is_shown(note)]
    width = width_of(sys.stderr)
    lines = [note if width is None else shortened(note, max(_LEAST_NOTE, width - _COLUMN)) for note in notes[:_NOTES]]
    for index, line in enumerate(lines):
        yield item("differs" if index == 0 else "", line)
    more = len(notes) - len(lines)
    if more:
        yield item("", f"and {more} more: smlocal describe {answer['TrainingJobName']}")
    elif lines != notes:
        yield item("", f"in full: smlocal describe {answer['TrainingJobName']}")


def _is_shown(note: Mapping[str, Any]) -> bool:
    return not note["Warning"] and not note["Id"].startswith(_ONLY_IN_PLAN)
