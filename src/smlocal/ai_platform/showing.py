"""Jobs of this platform in answers and on screens."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from smlocal.ai_platform import views_of_jobs
from smlocal.ai_platform.answer import DOCUMENTS, answer_of, error_at, kind_of, list_of, state_word, timestamp
from smlocal.ai_platform.replicas import called_replicas, replicas
from smlocal.ai_platform.shape import job_kind
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.records import JobRecord, StoredJob


class ReplicaShowing(Showing[JobPlan]):
    """The answer has the whole request, and the service finds no metrics in logs."""

    DOCUMENTS = DOCUMENTS
    UNINTERRUPTIBLE = (
        "has no spot interruptions",
        "To simulate the maintenance of a machine, write a fault of the kind Maintenance into Local.Faults.",
    )
    start = staticmethod(views_of_jobs.start_of)
    view = staticmethod(views_of_jobs.view_of)
    described_rows = staticmethod(views_of_jobs.described_rows)

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The Job or CustomJob. The error of a job appears about a minute after its end."""
        return answer_of(stored)

    def describe_last(self, stored: StoredJob) -> dict[str, Any]:
        """With the error."""
        return answer_of(stored, final=True)

    def still_to_come(self, stored: StoredJob) -> dict[str, Any]:
        """When the error will be attached."""
        at = error_at(stored)
        return {} if at is None else {"ErrorExpected": timestamp(at)}

    def listed(self, record: JobRecord, read: Callable[[], StoredJob]) -> tuple[str, dict[str, Any]]:
        """A member of `jobs` or `customJobs`, as `describe` answers it, and its name on this machine."""
        return list_of(record), {**answer_of(read()), "JobName": record.name}

    def words(self, record: JobRecord) -> tuple[str, str]:
        """The state says everything."""
        return state_word(record, kind_of(record)), ""

    def spoken(self, record: JobRecord) -> Spoken:
        """A job is cancelled here, and the services say nothing of a grace period."""
        kind, (state, _) = kind_of(record).spoken, self.words(record)
        return Spoken(
            job=kind,
            ended=f"The {kind} '{record.name}' has ended: it is {state}.",
            stopping="cancelling",
            longest_grace=None,
            no_metrics="has no metrics: its service looks for none in the logs",
            no_tensors="saves no tensors: its service has no debugger",
            no_artifacts="The files that its replicas wrote to buckets are already in folders of this machine.",
        )

    def host_names(self, record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> list[str]:
        """`master-0`, `workerpool0-0` and so on."""
        given = request()
        return [each.host for each in replicas(job_kind(given), given, job=record.name)]

    def host_called(self, record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> Mapping[str, str]:
        """`master 0` of messages, the replica's own host name, and a group that has only one replica."""
        given = request()
        return called_replicas(replicas(job_kind(given), given, job=record.name))


SHOWING: Final = ReplicaShowing()
