"""The metrics of a job, running or finished."""

from collections.abc import Iterator

from smlocal.contract.metrics.metric_values import MetricDefinition, MetricValue
from smlocal.job.documents import REQUEST
from smlocal.job.metrics.metric_summary import MetricSummary, summaries
from smlocal.job.metrics.metrics_search import slow_regex_notes
from smlocal.job.metrics.values_file import read_state, read_values
from smlocal.job.platform import platform_named
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class JobMetrics:
    """What has been found so far."""

    directory: str
    definitions: tuple[MetricDefinition, ...]
    hosts: list[str]
    notes: list[str]
    """What was disabled or skipped."""

    def summaries(self) -> list[MetricSummary]:
        """One for each metric."""
        return summaries(self.directory, self.definitions, self.hosts)

    def values(self) -> Iterator[MetricValue]:
        """All values, in the order in which they were found."""
        return read_values(self.directory, self.definitions, self.hosts)


def job_metrics(store: Store, name: str) -> JobMetrics:
    """Read them; `JobUnknownError` if there is no such job."""
    record, request = store.get(name), store.document(name, REQUEST)
    platform = platform_named(record.platform)
    definitions = platform.metrics(request)
    directory = store.directory(name)
    return JobMetrics(
        directory=directory,
        definitions=definitions,
        hosts=platform.host_names(record, lambda: request),
        notes=slow_regex_notes(read_state(directory), definitions),
    )
