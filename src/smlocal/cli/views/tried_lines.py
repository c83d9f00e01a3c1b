"""What the regexes of MetricDefinitions take from lines that somebody gives to try them: `plan --try-line`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.contract.log_view import view_of
from smlocal.contract.metrics.metric_values import definitions_of


def tried_lines(request: Mapping[str, Any], texts: Sequence[str]) -> list[dict[str, Any]]:
    """One document for each line, as the service's log shows it, and each definition."""
    from smlocal.job.metrics.searcher import try_line

    documents = []
    for text in texts:
        line = view_of(text.encode(errors="surrogateescape"))
        found = [
            {"MetricName": each.name, "Value": each.value, "Says": each.verdict}
            for each in try_line(definitions_of(request), line)
        ]
        documents.append({"Line": line, "Metrics": found})
    return documents


def shown_lines(documents: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The same for people: a head, and what stands beside it."""
    for document in documents:
        yield "Line", document["Line"]
        width = max((len(each["MetricName"]) for each in document["Metrics"]), default=0)
        for each in document["Metrics"]:
            yield "", f"{each['MetricName']:<{width}}  {each['Says']}"
