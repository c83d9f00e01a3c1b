"""The end of a job on the service in a few lines, as the end of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.cli.terminal.colour import BOLD, paint
from smlocal.cli.terminal.columns import shortened
from smlocal.cli.views.summary import COLOURS, failure, item
from smlocal.platforms.sagemaker.showing import EMPTY_REASON, NO_TEXT

_MOST_METRICS = 8
_SHORT_NAME = 9
_LONGEST_NAME = 40


def service_summary(answer: Mapping[str, Any], hints: Sequence[str]) -> str:
    """The text, from an answer of describe as a document."""
    return "\n".join(_lines(answer, hints))


def _lines(answer: Mapping[str, Any], hints: Sequence[str]) -> Iterator[str]:
    status = answer["TrainingJobStatus"]
    if status == "Failed":
        yield failure("Failed", answer.get("FailureReason", ""))
        if str(answer.get("FailureReason", "")).startswith(EMPTY_REASON):
            yield item("note", NO_TEXT)
    else:
        end = answer.get("TrainingEndTime") or answer["LastModifiedTime"]
        why = f" ({answer['SecondaryStatus']})" if answer["SecondaryStatus"] != status else ""
        yield f"{paint(status, COLOURS.get(status, BOLD))}{why} in {end - answer['CreationTime']:.1f} s"
    yield from (item("hint", hint) for hint in hints)
    model = (answer.get("ModelArtifacts") or {}).get("S3ModelArtifacts")
    if model and status != "Failed":
        yield item("model", model)
    yield from _metrics(answer.get("FinalMetricDataList") or ())
    billed = answer.get("BillableTimeInSeconds")
    if billed is not None:
        yield item("billed", f"{billed:,} s of each instance")


def _metrics(final: Sequence[Mapping[str, Any]]) -> Iterator[str]:
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
