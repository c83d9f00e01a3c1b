"""The end of a job in a few lines, here or on the service: first the reason, then where the results are."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import readable_bytes, short_path
from smlocal.base.regex import regex
from smlocal.cli.terminal.layout import BOLD, GREEN, RED, YELLOW, paint, row, shortened, width_of, wrapped
from smlocal.cli.terminal.printable import printable, without_colours
from smlocal.engine.client import place_here
from smlocal.errors import JobUnknownError
from smlocal.jobs.view import JobView
from smlocal.sagemaker.training.showing import EMPTY_REASON, NO_TEXT
from smlocal.terms.statuses import JobStatus

if TYPE_CHECKING:
    import textwrap

    from smlocal.cli.job_argument import job_named, named_or_newest
    from smlocal.cli.views.figures import metric_lines, summary_lines
else:
    job_named = at_use("smlocal.cli.job_argument", "job_named")
    named_or_newest = at_use("smlocal.cli.job_argument", "named_or_newest")
    textwrap = at_use("textwrap")
    metric_lines = at_use("smlocal.cli.views.figures", "metric_lines")
    summary_lines = at_use("smlocal.cli.views.figures", "summary_lines")

COLOURS: Mapping[str, str] = {
    JobStatus.COMPLETED: f"{BOLD};{GREEN}",
    JobStatus.FAILED: f"{BOLD};{RED}",
    JobStatus.STOPPED: f"{BOLD};{YELLOW}",
    "Succeeded": f"{BOLD};{GREEN}",
    "CompletedWithFailures": f"{BOLD};{YELLOW}",
}
"""Of the whole word, and bold: only the marks of the phases above it have a colour."""
_STILL_VISIBLE = 20
"""So many lines of several hosts are still visible on the screen, and are not shown again."""
_WARNING = "!"
_ARTIFACT_NOTES = 5
_MOST_METRICS = 8
_SHORT_NAME = 9
_LONGEST_NAME = 40
_LONGEST_MESSAGE = 200
_LAST_LINES = 20
_LAST_LINES_BELOW = 10
"""Of a job that another one has started: its log is one command away."""
_TAIL = 1 << 14
"""Bytes of the log that these lines are looked for in."""
_EXIT_CODE = regex(r"\s*, exit code: -?\d+\Z")
_LEFT_OUT = "…"


def summary(view: JobView, *, lines_shown: int | None = None, said: Collection[str] = (), by_hand: bool = False) -> str:
    """The text. `lines_shown`: the lines of output above it; None if the output went elsewhere. `said`: warnings.

    `by_hand`: with the docker command that starts the job again, which `describe` shows too.
    """
    # The last lines of a single host are right above. With several hosts, others may have written after the failed one.
    visible = lines_shown is not None and (len(view.local["Hosts"]) == 1 or lines_shown <= _STILL_VISIBLE)
    return "\n".join(_lines(view, output_visible=visible, said=said, by_hand=by_hand))


def shown_files(view: JobView) -> Iterator[str]:
    """The files and folders that the text names."""
    artifacts = view.local["Artifacts"]
    yield from (artifacts[kind] for kind in ("Model", "Output") if artifacts[kind])
    yield from (each.folder for each in view.outputs)


def failure(state: str, reason: str) -> str:
    """The reason of a failed job: `Failed: AlgorithmError: …`."""
    first, *more = printable(reason).splitlines() or [""]
    width = width_of(sys.stderr)
    lines = [*wrapped(first, indent=len(f"{state}: "), width=width)]
    lines += (each for line in more for each in row("  ", line, width=width))
    return f"{paint(state, COLOURS[JobStatus.FAILED])}: " + "\n".join(lines)


def _lines(view: JobView, *, output_visible: bool, said: Collection[str], by_hand: bool) -> Iterator[str]:
    local = view.local
    last = last_lines(local) if view.status is JobStatus.FAILED else None
    if view.status is JobStatus.FAILED:
        above = output_visible and last is not None and last.have(view.reason)
        yield failure(view.state, without_repetition(view.reason) if above else view.reason)
    else:
        why = f" ({view.why})" if view.why else ""
        yield f"{paint(view.state, COLOURS.get(view.status, BOLD))}{why} in {view.seconds:.1f} s"
    yield from _explanations(view, said)
    yield from (item(*each) for each in view.results)
    if last is not None and not output_visible and (shown := last.shown(view.reason)):
        yield f"Last lines of {last.host}"
        yield textwrap.indent("\n".join(shown), "  ")
    if view.status is JobStatus.FAILED and view.log_of:
        yield from _end_of_other_log(view.log_of)
    yield from _artifacts(local, view.name, said)
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
        count = len(local["Notes"])
        yield item("differs", f"{count} known difference{'s' * (count != 1)}: smlocal describe {view.name}")
    if by_hand and local.get("DockerCommand"):
        yield f"  {'by hand':<9} {printable(local['DockerCommand'])}"  # in one line, to be pasted
    yield item("next", " · ".join(f"smlocal {each}" for each in _next(view)))


def _end_of_other_log(job: str) -> Iterator[str]:
    """The last lines of the job that failed below a search or an execution."""
    with suppress(JobUnknownError):  # it was removed
        last = last_lines(job_named(named_or_newest(job)).view().local)
        if last is not None:
            yield f"Last lines of {job}"
            yield textwrap.indent("\n".join(last.lines[-_LAST_LINES_BELOW:]), "  ")


def _next(view: JobView) -> Iterator[str]:
    """What one may want to do now."""
    if view.status is not JobStatus.COMPLETED and view.log_of is not None:
        yield f"logs {view.log_of or view.name}"
    yield from view.leads_to
    yield f"describe {view.name}"
    if view.status is JobStatus.COMPLETED:
        yield f"report {view.name}"
    elif view.status is JobStatus.FAILED and _opens_shell(view):
        yield f"shell {view.name}"


def _opens_shell(view: JobView) -> bool:
    """Whether there is a container to look into, or one can be made. A place lets nobody into those that are kept."""
    kept = bool(view.local.get("ContainersKept"))
    return not (kept and place_here() is not None) and (kept or view.shell)


def _explanations(view: JobView, said: Collection[str]) -> Iterator[str]:
    """Why the job ended so, where the service's reason does not say it."""
    if view.status is JobStatus.FAILED:
        if view.local["Explanation"]:
            yield item("because", view.local["Explanation"])
    elif view.reason:
        yield item("reason", view.reason)
    yield from (item(*each) for each in view.notes)
    yield from (item("hint", hint) for hint in view.local["Hints"] if hint not in said)


def item(name: str, text: str, *, mark: str = " ") -> str:
    """One row below the first line."""
    rows = "\n".join(row(f"  {name:<9} ", printable(text), width=width_of(sys.stderr)))
    return rows if mark == " " else paint(mark, YELLOW) + rows[1:]


def _artifacts(local: Mapping[str, Any], name: str, said: Collection[str]) -> Iterator[str]:
    artifacts = local["Artifacts"]
    for kind in ("Model", "Output"):
        if artifacts[kind]:
            size = readable_bytes(artifacts[f"{kind}Bytes"])
            yield item(kind.lower(), f"{short_path(artifacts[kind])}  {size}")
    if artifacts.get("Kept"):
        yield item("kept", f"{short_path(artifacts['Kept'])}  not packed yet: smlocal pack {name} --output DIR")
    for path, kept in artifacts.get("NotSaved", {}).items():
        yield item("kept", f"{short_path(kept)}  {path}, not saved yet: smlocal pack {name} --output DIR")
    notes = [each for each in artifacts["Notes"] if each not in said]
    yield from (item("note", each) for each in notes[:_ARTIFACT_NOTES])
    more = len(notes) - _ARTIFACT_NOTES
    if more > 0:
        yield item("", f"and {more} more: smlocal describe {name} shows them all")


def _metrics(answer: Mapping[str, Any]) -> Iterator[str]:
    metrics = answer["Local"].get("Metrics")
    if not metrics or not (answer.get("FinalMetricDataList") or metrics["Notes"]):
        return

    yield from (item(name, text) for name, text in metric_lines(answer))


def _usage(local: Mapping[str, Any]) -> Iterator[str]:
    if not local.get("Usage"):
        return

    yield from (item(name, text) for name, text in summary_lines(local["Usage"]))


@dataclass(frozen=True, kw_only=True, slots=True)
class LastLines:
    """The end of a log, as it can be shown."""

    host: str
    lines: tuple[str, ...]
    """More than are shown: a traceback may be longer."""

    def have(self, reason: str) -> bool:
        """True if the program wrote a reason of several lines, such as a traceback, to its output too."""
        more = reason_lines(_EXIT_CODE.sub("", reason))[1:]
        if not any(more):
            return False
        lines = set(self.lines)
        *whole, last = (line for line in more if line)
        # The service cuts a long reason.
        return all(line in lines for line in whole) and any(line.startswith(last) for line in self.lines)

    def shown(self, reason: str) -> list[str]:
        """The last twenty, without those that the reason above them has."""
        lines = self.lines[-_LAST_LINES:]
        if not self.have(reason):
            return [*lines]
        first, *more = reason_lines(_EXIT_CODE.sub("", reason))
        left = [_LEFT_OUT if line and (line in more or first.endswith(line)) else line for line in lines]
        kept = [line for number, line in enumerate(left) if line != _LEFT_OUT or left[number - 1 : number] != [line]]
        return [] if kept == [_LEFT_OUT] else kept


def last_lines(local: Mapping[str, Any]) -> LastLines | None:
    """Of the host whose failure is the reason; others fail after it, or because of it. None if there is no log."""
    for host in local["Hosts"]:
        if host["Name"] == local["FailedHost"] and host["Log"] and (lines := tuple(_end_of(host["Log"]))):
            return LastLines(host=host["Name"], lines=lines)
    return None


def last_words(local: Mapping[str, Any], reason: str) -> str:
    """The last line of a failed host, if there is one; else the reason."""
    end = last_lines(local) if local.get("Hosts") else None
    line = next((line.strip() for line in reversed(end.lines) if line.strip()), "") if end is not None else ""
    if not line:
        return reason
    return f"{reason.rpartition(', ')[2]}, last line: {line}" if reason.startswith(EMPTY_REASON) else line


def without_repetition(reason: str) -> str:
    """The first and the last line of a reason that is right above: of a traceback, the last one has the error."""
    code = _EXIT_CODE.search(reason)
    first, *more = filter(None, reason_lines(_EXIT_CODE.sub("", reason)))
    last = f"{more[-1].strip()}{code[0].strip() if code else ''}"
    return "\n".join((first, *([_LEFT_OUT] if len(more) > 1 else []), last))


def reason_lines(reason: str) -> list[str]:
    """As the lines of a log are shown."""
    return [line.rstrip() for line in printable(reason).splitlines()] or [""]


def _end_of(path: str) -> Iterator[str]:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
            text = without_colours(log.read().decode("utf-8", errors="replace"))
    except OSError:
        return
    yield from (printable(line).rstrip() for line in text.splitlines())


def service_summary(answer: Mapping[str, Any], hints: Sequence[str]) -> str:
    """The text, from an answer of describe as a document."""
    if "HyperParameterTuningJobStatus" in answer:
        return "\n".join(_tuning_lines_there(answer))
    return "\n".join(_lines_there(answer, hints))


def status_there(answer: Mapping[str, Any]) -> str:
    """The status in an answer of the service about a job."""
    members = (
        *("ProcessingJobStatus", "HyperParameterTuningJobStatus", "TrainingJobStatus"),
        "PipelineExecutionStatus",
    )
    return next(str(answer[each]) for each in members if each in answer)


def _lines_there(answer: Mapping[str, Any], hints: Sequence[str]) -> Iterator[str]:
    status = status_there(answer)
    if status == "Failed":
        yield failure("Failed", answer.get("FailureReason", ""))
        if str(answer.get("FailureReason", "")).startswith(EMPTY_REASON):
            yield item("note", NO_TEXT)
    else:
        end = answer.get("TrainingEndTime") or answer.get("ProcessingEndTime") or answer["LastModifiedTime"]
        secondary = answer.get("SecondaryStatus", status)
        why = f" ({secondary})" if secondary != status else ""
        yield f"{paint(status, COLOURS.get(status, BOLD))}{why} in {end - answer['CreationTime']:.1f} s"
    yield from (item("hint", hint) for hint in hints)
    model = (answer.get("ModelArtifacts") or {}).get("S3ModelArtifacts")
    if model and status != "Failed":
        yield item("model", model)
    if answer.get("ExitMessage"):
        yield item("message", shortened(printable(" ".join(answer["ExitMessage"].split())), _LONGEST_MESSAGE))
    for output in (answer.get("ProcessingOutputConfig") or {}).get("Outputs") or ():
        if output.get("S3Output"):
            yield item("output", f"{printable(output['OutputName'])}: {output['S3Output']['S3Uri']}")
    yield from _metrics_there(answer.get("FinalMetricDataList") or ())
    billed = answer.get("BillableTimeInSeconds")
    if billed is not None:
        yield item("billed", f"{billed:,} s of each instance")


def _tuning_lines_there(answer: Mapping[str, Any]) -> Iterator[str]:
    status = answer["HyperParameterTuningJobStatus"]
    if status == "Failed":
        yield failure("Failed", answer.get("FailureReason", ""))
    else:
        end = answer.get("HyperParameterTuningEndTime") or answer["LastModifiedTime"]
        yield f"{paint(status, COLOURS.get(status, BOLD))} in {end - answer['CreationTime']:.1f} s"
    counts = answer.get("TrainingJobStatusCounters") or {}
    yield item("jobs", ", ".join(f"{count:,} {_COUNTED[name]}" for name, count in counts.items() if count) or "none")
    best = answer.get("BestTrainingJob")
    if best:
        found = best.get("FinalHyperParameterTuningJobObjectiveMetric") or {}
        yield item("best", best["TrainingJobName"])
        if found:
            yield item("", f"{found['MetricName']} {found['Value']:.6g}")
        for name, value in (best.get("TunedHyperParameters") or {}).items():
            yield item("", f"{name}={value}")


_COUNTED = {
    "Completed": "completed",
    "InProgress": "in progress",
    "RetryableError": "failed",
    "NonRetryableError": "failed for good",
    "Stopped": "stopped",
}


def _metrics_there(final: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown = [(shortened(each["MetricName"], _LONGEST_NAME), f"{each['Value']:.6g}") for each in final[:_MOST_METRICS]]
    longest = max((len(name) for name, _ in shown), default=0)
    width = max((len(value) for _, value in shown), default=0)
    for index, (name, value) in enumerate(shown):
        if longest <= _SHORT_NAME:
            yield item(name, f"{value:>{width}}")
        else:
            yield item("" if index else "metrics", f"{name:<{longest}}  {value:>{width}}")
    if len(final) > _MOST_METRICS:
        yield item("", f"and {len(final) - _MOST_METRICS} more")
