"""AI Platform Training and custom jobs as a platform of jobs."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from smlocal.platforms.ai_platform.answer import DOCUMENTS

if TYPE_CHECKING:
    from smlocal.contract.failures import Failure
    from smlocal.contract.metrics.metric_values import MetricDefinition
    from smlocal.contract.statuses import Ending
    from smlocal.engine.engines import Engines
    from smlocal.job.decide.attempt_outcome import AttemptOutcome, Symptoms
    from smlocal.job.platform import BesideJob, JobContext, Platform, Spoken
    from smlocal.job.prepared import Prepared
    from smlocal.job.view import JobView, Reporter, StartView
    from smlocal.planning.model import HostPlan, JobPlan
    from smlocal.store.records import JobRecord, StoredJob


class AiPlatform:
    """What this platform decides about its jobs."""

    documents: Final = DOCUMENTS
    """Which documents of a job its answer is made from, in addition to the request."""

    def prepare_recorded(
        self, recorded: Mapping[str, Any], record: "JobRecord", *, home: str, reporter: "Reporter"
    ) -> "Prepared":
        """Prepare a job that was recorded and never begun."""
        from smlocal.platforms.ai_platform.prepare.job_preparation import prepare_recorded

        return prepare_recorded(recorded, record, home=home, reporter=reporter)

    def plan_again(self, recorded: Mapping[str, Any], old: "JobPlan", *, home: str, engines: "Engines") -> "JobPlan":
        """The complete plan of a recorded job."""
        from smlocal.platforms.ai_platform.prepare.job_preparation import plan_again

        return plan_again(recorded, old, home=home, engines=engines)

    def plan_document(self, plan: "JobPlan") -> dict[str, Any]:
        """The document of `smlocal plan --json`."""
        from smlocal.platforms.ai_platform.planning.document import plan_document

        return plan_document(plan)

    def plan_rows(self, plan: "JobPlan") -> Iterable[tuple[str, str]]:
        """The plan for people."""
        from smlocal.platforms.ai_platform.views.plan import plan_rows

        return plan_rows(plan)

    def script(self, plan: "JobPlan") -> None:
        """A script would have to restart replicas."""

    def for_attempt(self, plan: "JobPlan", number: int) -> "JobPlan":  # noqa: ARG002 - nothing in it says the number
        """The same plan."""
        return plan

    def begin_rules(self, plan: "JobPlan", context: "JobContext", *, first: bool) -> "BesideJob | None":  # noqa: ARG002 - there are none
        """Nothing is evaluated beside these jobs."""
        return None

    def ending(self, outcome: "AttemptOutcome", failure_file: bytes) -> "tuple[Ending, str | None]":  # noqa: ARG002 - the lifecycle decides
        """Of a job that smlocal could not run: the lifecycle decides about all others."""
        from smlocal.contract.statuses import FAILED
        from smlocal.platforms.ai_platform.run.reasons import reason_of

        return FAILED, reason_of(None, "")

    def reason(self, failure: "Failure") -> str:
        """A failure that no program caused."""
        from smlocal.platforms.ai_platform.run.reasons import reason_of

        return reason_of(None, failure.message)

    def hint(self, plan: "JobPlan", host: "HostPlan", symptoms: "Symptoms") -> str | None:  # noqa: ARG002 - see below
        """`check` knows images of the other platform only."""
        return None

    def host_names(self, record: "JobRecord", request: Callable[[], Mapping[str, Any]]) -> list[str]:
        """`master-0`, `workerpool0-0` and so on."""
        from smlocal.platforms.ai_platform.replicas import replicas
        from smlocal.platforms.ai_platform.shape import job_kind

        given = request()
        return [each.host for each in replicas(job_kind(given), given, job=record.name)]

    def host_called(self, record: "JobRecord", request: Callable[[], Mapping[str, Any]]) -> Mapping[str, str]:
        """`master 0` of messages, the replica's own host name, and a group that has only one replica."""
        from smlocal.platforms.ai_platform.replicas import called_replicas, replicas
        from smlocal.platforms.ai_platform.shape import job_kind

        given = request()
        return called_replicas(replicas(job_kind(given), given, job=record.name))

    def metrics(self, request: Mapping[str, Any]) -> "tuple[MetricDefinition, ...]":  # noqa: ARG002 - there are none
        """The service finds no metrics in logs."""
        return ()

    def docker_command(self, plan: "JobPlan") -> str | None:  # noqa: ARG002 - there is none
        """Several containers are no command."""
        return None

    def usage(self, plan: "JobPlan", killed: Collection[str]) -> dict[str, Any] | None:  # noqa: ARG002 - see below
        """There is no advice on machine types; the series are in the job's folder."""
        return None

    def describe(self, stored: "StoredJob", *, final: bool = False) -> dict[str, Any]:
        """The Job or CustomJob."""
        from smlocal.platforms.ai_platform.answer import answer_of

        return answer_of(stored, final=final)

    def still_to_come(self, stored: "StoredJob") -> dict[str, Any]:
        """When the error will be attached."""
        from smlocal.platforms.ai_platform.answer import error_at
        from smlocal.platforms.ai_platform.describe import timestamp

        at = error_at(stored)
        return {} if at is None else {"ErrorExpected": timestamp(at)}

    def not_interruptible(self, request: Mapping[str, Any]) -> tuple[str, str]:  # noqa: ARG002 - no job is
        """The maintenance of a machine is simulated as the job file says."""
        return (
            "has no spot interruptions",
            "To simulate the maintenance of a machine, write a fault of the kind Maintenance into Local.Faults.",
        )

    def start(self, plan: "JobPlan") -> "StartView":
        """The replicas and their machines."""
        from smlocal.platforms.ai_platform.views.start import start_of

        return start_of(plan)

    def view(self, stored: "StoredJob", answer: Mapping[str, Any]) -> "JobView":
        """What is shown of a job."""
        from smlocal.platforms.ai_platform.views.job import view_of

        return view_of(stored, answer)

    def described_rows(self, view: "JobView", *, supervised: bool) -> Iterable[tuple[str, str]]:
        """The request, the result and the history."""
        from smlocal.platforms.ai_platform.views.described import described_rows

        return described_rows(view, supervised=supervised)

    def words(self, record: "JobRecord") -> tuple[str, str]:
        """The state says everything."""
        from smlocal.platforms.ai_platform.answer import kind_of, state_word

        return state_word(record, kind_of(record)), ""

    def spoken(self, record: "JobRecord") -> "Spoken":
        """A job is cancelled here, and the services say nothing of a grace period."""
        from smlocal.job.platform import Spoken
        from smlocal.platforms.ai_platform.answer import kind_of

        kind, (state, _) = kind_of(record).spoken, self.words(record)
        ended = f"The {kind} '{record.name}' has ended: it is {state}."
        return Spoken(
            job=kind,
            ended=ended,
            stopping="cancelling",
            longest_grace=None,
            no_metrics="has no metrics: its service looks for none in the logs",
            no_tensors="saves no tensors: its service has no debugger",
            no_artifacts="What its replicas wrote to buckets is in folders of this machine already.",
        )

    def listed(self, record: "JobRecord", read: "Callable[[], StoredJob]") -> tuple[str, dict[str, Any]]:
        """A member of `jobs` or `customJobs`, as `describe` answers it, and its name on this machine."""
        from smlocal.platforms.ai_platform.answer import answer_of, list_of

        return list_of(record), {**answer_of(read()), "JobName": record.name}

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - nothing is left out
        """The answer has the whole request."""
        return {}


PLATFORM: "Final[Platform]" = AiPlatform()
