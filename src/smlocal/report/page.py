"""A report as one HTML file, from the templates beside this module. It needs no scripts and no other files."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from smlocal.base.formatting import duration, utc
from smlocal.base.readable import counted, readable_bytes
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import Bar, Span, Stage
from smlocal.report.graph_layout import lay_out
from smlocal.report.job_report import JobReport, read_job_report
from smlocal.sagemaker.contract.outcome.reasons import RuleStatus
from smlocal.terms.statuses import JobStatus

_MIN_WIDTH = 4
"""So that the bar of a very short phase is visible."""
_GAP = 2.0
"""Between two parts of a row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseRow:
    """One row."""

    status: str
    message: str
    running: bool
    seconds: float
    left: float
    width: float
    """The width of the bar; 0 for the status with which the job ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """The rows, and the total seconds."""

    WIDTH: ClassVar = 1000

    phases: tuple[PhaseRow, ...]
    start: float
    """Seconds since 1970."""
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnSpan:
    """A part of a row."""

    text: str
    good: bool
    running: bool
    left: float
    width: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnBar:
    """A row beside the phases."""

    name: str
    spans: tuple[DrawnSpan, ...]
    seconds: float
    short: bool = False
    """True if the name is beside the bar."""


def build_timeline(stages: Sequence[Stage], measured: Mapping[str, float], now: float) -> Timeline:
    """The timeline of a job; a phase that has not ended lasts until `now`.

    `measured` has the seconds of a phase where the run knows them: to the service the last one ends only after the
    clean-up.
    """
    start = min((stage.began for stage in stages), default=now)
    total = max((stage.ended or now for stage in stages), default=now) - start
    scale = Timeline.WIDTH / total if total > 0 else 0.0
    times = Counter(stage.name for stage in stages)
    phases = []
    for stage in stages:
        seconds = (now if stage.ended is None else stage.ended) - stage.began
        if times[stage.name] == 1:
            seconds = measured.get(stage.name, seconds)
        width = 0.0 if stage.final else min(Timeline.WIDTH, max(_MIN_WIDTH, seconds * scale))
        phases.append(
            PhaseRow(
                status=stage.name,
                message=stage.message,
                running=stage.ended is None,
                seconds=seconds,
                left=min(Timeline.WIDTH - width, (stage.began - start) * scale),
                width=width,
            )
        )
    return Timeline(phases=tuple(phases), start=start, seconds=total)


def drawn_bars(bars: Sequence[Bar], timeline: Timeline, now: float) -> Iterator[DrawnBar]:
    """Bars on the same scale as the phases."""
    scale = Timeline.WIDTH / timeline.seconds if timeline.seconds > 0 else 0.0
    for bar in bars:
        spans = []
        for span in bar.spans:
            seconds = (now if span.ended is None else span.ended) - span.began
            width = min(Timeline.WIDTH, max(_MIN_WIDTH, seconds * scale - _GAP))
            left = max(0.0, min(Timeline.WIDTH - width, (span.began - timeline.start) * scale))
            spans.append(DrawnSpan(text=span.text, good=span.good, running=span.ended is None, left=left, width=width))
        seconds = sum(_seconds(span, now) for span in bar.spans)
        yield DrawnBar(name=bar.name, spans=tuple(spans), seconds=seconds, short=bar.short)


def _seconds(span: Span, now: float) -> float:
    return (now if span.ended is None else span.ended) - span.began


_MIN_RULE_WIDTH = 4.0
_ISSUES = {RuleStatus.ISSUES_FOUND, RuleStatus.ERROR}


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleBar:
    """From the creation of the job to the last change of the rule's status."""

    name: str
    status: str
    """With the step, if it has one."""
    issue: bool
    running: bool
    seconds: float
    width: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleChange:
    """A new status."""

    seconds: float
    """Since the creation of the job."""
    name: str
    status: str
    details: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleHistory:
    """All rules, and all changes in their order."""

    bars: tuple[RuleBar, ...] = ()
    changes: tuple[RuleChange, ...] = ()


def rule_history(answer: Mapping[str, Any], recorded: Sequence[Mapping[str, Any]], seconds: float) -> RuleHistory:
    """`answer` is that of describe, `recorded` are all new statuses, oldest first; the timeline has these seconds."""
    created = answer.get("CreationTime", 0.0)  # jobs of platforms without rules have another word for it
    steps = {each["RuleConfigurationName"]: each.get("Step") for each in recorded}
    bars = []
    for each in answer.get("DebugRuleEvaluationStatuses", ()):
        name, status = each["RuleConfigurationName"], RuleStatus(each["RuleEvaluationStatus"])
        lasted = each["LastModifiedTime"] - created if status.terminal else seconds
        step = steps.get(name)
        bars.append(
            RuleBar(
                name=name,
                status=status.value if step is None else f"{status.value} at step {step:,}",
                issue=status in _ISSUES,
                running=not status.terminal,
                seconds=lasted,
                width=max(_MIN_RULE_WIDTH, min(1.0, lasted / seconds) * Timeline.WIDTH)
                if seconds > 0
                else _MIN_RULE_WIDTH,
            )
        )
    changes = [
        RuleChange(
            seconds=each["LastModifiedTime"] - created,
            name=each["RuleConfigurationName"],
            status=each["RuleEvaluationStatus"],
            details=each.get("Reason") or each.get("StatusDetails", ""),
        )
        for each in recorded
    ]
    return RuleHistory(bars=tuple(bars), changes=tuple(changes))


_LEAST_WIDTH = 4
"""So that the bar of a very short time is visible."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferServer:
    """The bytes that one server adds up in an iteration."""

    number: int
    balanced: int
    whole_variables: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer:
    """One row: the backward pass that fills the buffer, then its reduction. Places and widths of the bars."""

    bytes: int
    filling_left: float
    filling_width: float
    reducing_left: float
    reducing_width: float
    seconds: float
    """The seconds of the reduction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferTimeline:
    """The last iteration of rank 0."""

    WIDTH: ClassVar = 1000

    servers: tuple[BufferServer, ...]
    buffers: tuple[Buffer, ...]
    seconds: float
    overlapping: int
    """Buffers whose reduction began before the next one was filled."""


def buffer_timeline(block: Mapping[str, Any] | None) -> BufferTimeline | None:
    """The table of a job's block `DataParallel`; None without balanced buffers."""
    balanced = (block or {}).get("Balanced")
    if balanced is None:
        return None
    counted = balanced["IterationBytes"]
    variables = counted["WholeVariables"]
    last = balanced["LastIteration"] or {"Buffers": (), "BegunBeforeTheNextWasReady": 0}
    seconds = max((each["End"] for each in last["Buffers"]), default=0.0)
    return BufferTimeline(
        servers=tuple(
            BufferServer(number=n, balanced=size, whole_variables=variables[n] if n < len(variables) else None)
            for n, size in enumerate(counted["Balanced"])
        ),
        buffers=tuple(_buffer_rows(last["Buffers"], seconds)),
        seconds=seconds,
        overlapping=last["BegunBeforeTheNextWasReady"],
    )


def _buffer_rows(buffers: Sequence[Mapping[str, Any]], seconds: float) -> list[Buffer]:
    scale = BufferTimeline.WIDTH / seconds if seconds > 0 else 0.0
    rows, filled = [], 0.0
    for each in buffers:
        filling, reducing = (
            _buffer_bar(filled * scale, each["Ready"] * scale),
            _buffer_bar(each["Begin"] * scale, each["End"] * scale),
        )
        rows.append(
            Buffer(
                bytes=each["Bytes"],
                filling_left=filling[0],
                filling_width=filling[1],
                reducing_left=reducing[0],
                reducing_width=reducing[1],
                seconds=each["End"] - each["Begin"],
            )
        )
        filled = max(filled, each["Ready"])
    return rows


def _buffer_bar(begin: float, end: float) -> tuple[float, float]:
    """Place and width of a bar, in the drawing even if the times make no sense: a container has told them."""
    left = max(0.0, min(BufferTimeline.WIDTH - _LEAST_WIDTH, begin))
    return left, max(_LEAST_WIDTH, min(BufferTimeline.WIDTH, end) - left)


_CONTROL_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
"""HTML allows no control characters. Unicode has a picture for each of these."""
_REPLACEMENTS = _CONTROL_PICTURES | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def job_page(store: Store, name: str, time: float) -> str:
    """The page about a job as it is at this time."""
    return render_report(read_job_report(store, name, time))


def render_report(report: JobReport) -> str:
    """The HTML page of a job."""
    return render("report.html", **about_job(report), address=None)


def about_job(report: JobReport) -> dict[str, Any]:
    """The data for the templates of `partials`.

    They also want `address`: of the job's live page, None in a saved one.
    """
    view = report.view
    timeline = build_timeline(view.stages, view.local.get("Seconds", {}), report.time)
    buffers = buffer_timeline(view.local.get("DataParallel"))
    rules = rule_history(view.answer, report.rules, timeline.seconds)
    return {
        "report": report,
        "view": view,
        "bars": tuple(drawn_bars((*view.bars, *report.parts.bars), timeline, report.time)),
        "kind": report.spoken.job[:1].upper() + report.spoken.job[1:],
        "headline": _headline(report),
        "timeline": timeline,
        "rules": rules,
        "buffers": buffers,
    }


def render(template: str, **context: Any) -> str:
    """Fill a template. All data is escaped, so the result is valid HTML and UTF-8."""
    text = _environment().get_template(template).render(context)
    # File names may have bytes that are not UTF-8, which could not be written to a file.
    return text.translate(_REPLACEMENTS).encode(errors="backslashreplace").decode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("smlocal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "utc": utc,
        "duration": duration,
        "bytes": readable_bytes,
        "counted": counted,
        "drawn": lay_out,
        "pretty_json": partial(json.dumps, indent=2, ensure_ascii=False),
    }
    return environment


def _headline(report: JobReport) -> str:
    """`Completed in 2.6 s`."""
    view = report.view
    if report.running and report.spoken.endless:
        return f"{view.state} for {duration(report.time - (view.stages[-1].began if view.stages else view.created))}"
    if report.running:
        return f"{view.state}, {duration(report.time - view.created)} so far"
    return f"{view.state} {'in' if view.status is JobStatus.COMPLETED else 'after'} {duration(view.seconds)}"
