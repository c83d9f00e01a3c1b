"""`smlocal metrics`: the values that MetricDefinitions found in the logs of a job."""

import csv
import json
import sys
from typing import Any, TextIO

import click

from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import shortened, table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.cli.views.figures import sparkline
from smlocal.jobs.metrics.found_values import MetricSummary
from smlocal.jobs.metrics.job_metrics import JobMetrics
from smlocal.terms.metrics import MetricValue

_HEAD = ("METRIC", "LAST", "MIN", "MAX", "COUNT", "")
_LONGEST_NAME = 40


@shown_command(
    "metrics",
    examples=(
        ("smlocal metrics @last", "Show the metrics of the newest job."),
        ("smlocal metrics my-job --csv", "Print every value as CSV."),
    ),
)
@job_argument
@click.option("--json", "as_json", is_flag=True, help="Print every value as one JSON document.")
@click.option("--csv", "as_csv", is_flag=True, help="Print every value as CSV: metric, value, timestamp, host.")
def command(*, name: str, as_json: bool, as_csv: bool) -> None:
    """Show the metrics of a job, finished or running."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be used together.")

    job = job_named(name)
    found = job.metrics
    if as_json:
        _write_json(name, found, sys.stdout)
    elif as_csv:
        _write_csv(found, sys.stdout)
    elif not found.definitions:
        click.echo(f"The job {name} {job.spoken.no_metrics}.", err=True)
    else:
        _show(found)


def _show(found: "JobMetrics") -> None:
    for line in table([_HEAD, *map(_row, found.summaries())], width=width_of(sys.stdout), right=range(1, 5)):
        click.echo(line)
    for note in found.notes:
        click.echo(f"Note   {printable(note)}")


def _row(summary: "MetricSummary") -> tuple[str, ...]:
    name = shortened(printable(summary.name), _LONGEST_NAME)
    if summary.last is None:
        return (name, "none", "", "", "0", "")
    numbers = (summary.last.value, summary.lowest, summary.highest)
    return (name, *(f"{number:.6g}" for number in numbers), str(summary.count), sparkline(summary.points))


def _write_json(name: str, found: "JobMetrics", out: TextIO) -> None:
    """Write value by value: all values may not fit into memory."""
    metrics = [_summary_document(summary) for summary in found.summaries()]
    head = json_without_commands(
        json.dumps({"TrainingJobName": name, "Metrics": metrics, "Notes": found.notes}, indent=2)
    )
    out.write(head.removesuffix("\n}") + ',\n  "Values": [')
    documents = (json_without_commands(json.dumps(_value_document(value))) for value in found.values())
    out.writelines(f"{',' * bool(index)}\n    {document}" for index, document in enumerate(documents))
    out.write("\n  ]\n}\n")


def _summary_document(summary: "MetricSummary") -> dict[str, Any]:
    document: dict[str, Any] = {"MetricName": summary.name, "Count": summary.count}
    if summary.last is not None:
        last = _value_document(summary.last)
        del last["MetricName"]
        document |= {"Last": last, "Minimum": summary.lowest, "Maximum": summary.highest}
    return document


def _value_document(value: "MetricValue") -> dict[str, Any]:
    return {"MetricName": value.name, "Value": value.value, "Timestamp": _rounded(value.at), "Host": value.host}


def _rounded(at: float | None) -> float | None:
    """The time is known to the millisecond."""
    return None if at is None else round(at, 3)


def _write_csv(found: "JobMetrics", out: TextIO) -> None:
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("metric", "value", "timestamp", "host"))
    rows.writerows((each.name, each.value, _rounded(each.at), each.host) for each in found.values())
