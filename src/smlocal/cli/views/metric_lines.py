"""Metrics as text: at the end of a run (`loss      0.127  ▇▅▃▂▁`), and for `plan --try-line`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.cli.terminal.columns import shortened
from smlocal.cli.views.sparkline import sparkline

_MAX_SHOWN = 8
_SHORT_NAME = 9
"""Shorter names are shown as the names of rows."""
_MAX_NAME = 40


def metric_lines(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows (name, text): the last values with a curve, and the notes."""
    metrics = answer["Local"]["Metrics"]
    courses = {each["MetricName"]: each["Course"] for each in metrics.get("Summaries", ())}
    final = answer.get("FinalMetricDataList", ())
    shown = [
        (
            shortened(each["MetricName"], _MAX_NAME),
            f"{each['Value']:.6g}",
            sparkline(courses.get(each["MetricName"], ())),
        )
        for each in final[:_MAX_SHOWN]
    ]
    longest = max((len(name) for name, _, _ in shown), default=0)
    width = max((len(value) for _, value, _ in shown), default=0)
    for index, (name, value, course) in enumerate(shown):
        text = f"{value:>{width}}  {course}".rstrip()
        yield (name, text) if longest <= _SHORT_NAME else ("" if index else "metrics", f"{name:<{longest}}  {text}")
    if len(final) > _MAX_SHOWN:
        yield "", f"and {len(final) - _MAX_SHOWN} more: smlocal metrics {answer['TrainingJobName']}"
    for note in metrics["Notes"]:
        yield "note", note


def tried_lines(request: Mapping[str, Any], texts: Sequence[str]) -> list[dict[str, Any]]:
    """Try the MetricDefinitions on lines: a document for each line, as the service's log shows it."""
    from smlocal.contract.log_view import view_of
    from smlocal.job.metrics.metrics_process import try_line
    from smlocal.platforms.sagemaker.contract.metric_definitions import definitions_of

    documents = []
    for text in texts:
        line = view_of(text.encode(errors="surrogateescape"))
        found = [
            {"MetricName": each.name, "Value": each.value, "Says": each.verdict}
            for each in try_line(definitions_of(request), line)
        ]
        documents.append({"Line": line, "Metrics": found})
    return documents


def tried_rows(documents: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The same as rows (heading, text)."""
    for document in documents:
        yield "Line", document["Line"]
        width = max((len(each["MetricName"]) for each in document["Metrics"]), default=0)
        for each in document["Metrics"]:
            yield "", f"{each['MetricName']:<{width}}  {each['Says']}"
