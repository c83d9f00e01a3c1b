"""The metrics of a remembered job, running or finished."""

from collections.abc import Iterator

from smlocal.contract.metrics.values import MetricDefinition, MetricValue, definitions_of
from smlocal.job.finish.describe import PLAN, REQUEST
from smlocal.job.metrics.summary import MetricSummary, summaries
from smlocal.job.metrics.values import read_state, read_values
from smlocal.job.metrics.watch import overrun_notes
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class JobMetrics:
    """What is found of them by now."""

    directory: str
    definitions: tuple[MetricDefinition, ...]
    hosts: list[str]
    notes: list[str]
    """What was switched off or passed over."""

    def summaries(self) -> list[MetricSummary]:
        """One of each metric."""
        return summaries(self.directory, self.definitions, self.hosts)

    def values(self) -> Iterator[MetricValue]:
        """All of them, as they were found."""
        return read_values(self.directory, self.definitions, self.hosts)


def job_metrics(store: Store, name: str) -> JobMetrics:
    """Look at a job. Unknown: an error."""
    definitions = definitions_of(store.document(name, REQUEST))
    directory = store.directory(name)
    return JobMetrics(
        directory=directory,
        definitions=definitions,
        hosts=[host["Name"] for host in store.document(name, PLAN)["Hosts"]],
        notes=overrun_notes(read_state(directory), definitions),
    )
