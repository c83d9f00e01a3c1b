"""Where the metrics of a job stand, as the end of a run shows it: `loss      0.127  ▇▅▃▂▁`."""

from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.cli.terminal.columns import shortened
from smlocal.cli.views.sparkline import sparkline

_MOST = 8
_SHORT = 9
"""Names that fit where the names of rows stand."""
_LONGEST = 40


def metric_lines(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows (name, text): the last values with their course, and what could not be found out."""
    metrics = answer["Local"]["Metrics"]
    courses = {each["MetricName"]: each["Course"] for each in metrics.get("Summaries", ())}
    final = answer.get("FinalMetricDataList", ())
    shown = [
        (
            shortened(each["MetricName"], _LONGEST),
            f"{each['Value']:.6g}",
            sparkline(courses.get(each["MetricName"], ())),
        )
        for each in final[:_MOST]
    ]
    longest = max((len(name) for name, _, _ in shown), default=0)
    width = max((len(value) for _, value, _ in shown), default=0)
    for index, (name, value, course) in enumerate(shown):
        text = f"{value:>{width}}  {course}".rstrip()
        yield (name, text) if longest <= _SHORT else ("" if index else "metrics", f"{name:<{longest}}  {text}")
    if len(final) > _MOST:
        yield "", f"and {len(final) - _MOST} more: smlocal metrics {answer['TrainingJobName']}"
    for note in metrics["Notes"]:
        yield "note", note
