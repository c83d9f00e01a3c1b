"""A report as one HTML file, from the templates beside this module. It needs no scripts and no other files."""

import json
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from smlocal.base.readable import readable_bytes
from smlocal.jobs.store.jobs import Store
from smlocal.report.formatting import counted, duration, utc
from smlocal.report.job_report import JobReport, read_job_report
from smlocal.report.timeline import buffer_timeline, build_timeline, drawn_bars, rule_history
from smlocal.terms.statuses import JobStatus

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
        "bars": tuple(drawn_bars(view.bars, timeline, report.time)),
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
        "pretty_json": partial(json.dumps, indent=2, ensure_ascii=False),
    }
    return environment


def _headline(report: JobReport) -> str:
    """`Completed in 2.6 s`."""
    view = report.view
    if report.running:
        return f"{view.state}, {duration(report.time - view.created)} so far"
    return f"{view.state} {'in' if view.status is JobStatus.COMPLETED else 'after'} {duration(view.seconds)}"
