"""SageMaker as a platform of jobs."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

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


class SageMaker:
    """What SageMaker decides about its jobs. A command imports only what it uses of it."""

    documents: tuple[str, ...] = ()
    """The answer needs no other documents than those of every job."""

    def prepare_recorded(
        self, recorded: Mapping[str, Any], record: "JobRecord", *, home: str, reporter: "Reporter"
    ) -> "Prepared":
        """Prepare a job that was recorded and never begun."""
        from smlocal.platforms.sagemaker.prepare.job_preparation import prepare_recorded

        return prepare_recorded(recorded, record, home=home, reporter=reporter)

    def plan_again(self, recorded: Mapping[str, Any], old: "JobPlan", *, home: str, engines: "Engines") -> "JobPlan":
        """The plan of a recorded job, with its inputs as they are now."""
        from smlocal.platforms.sagemaker.prepare.job_preparation import plan_again

        return plan_again(recorded, old, home=home, engines=engines)

    def plan_document(self, plan: "JobPlan") -> dict[str, Any]:
        """The document of `smlocal plan --json`."""
        from smlocal.platforms.sagemaker.planning.document import plan_document

        return plan_document(plan)

    def plan_rows(self, plan: "JobPlan") -> Iterable[tuple[str, str]]:
        """The plan for people."""
        from smlocal.platforms.sagemaker.planning.plan_rows import plan_rows

        return plan_rows(plan)

    def script(self, plan: "JobPlan") -> str:
        """The job as docker commands."""
        from smlocal.platforms.sagemaker.planning.script import shell_script

        return shell_script(plan)

    def for_attempt(self, plan: "JobPlan", number: int) -> "JobPlan":
        """The plan with the number of the attempt in its files."""
        from smlocal.platforms.sagemaker.planning.attempt_number import for_attempt

        return for_attempt(plan, number)

    def begin_rules(self, plan: "JobPlan", context: "JobContext", *, first: bool) -> "BesideJob | None":
        """Evaluate the debugger rules beside the job."""
        if not plan.rules:
            return None
        from smlocal.platforms.sagemaker.rules_of_job import begin_rules

        return begin_rules(plan, context, first=first)

    def ending(self, outcome: "AttemptOutcome", failure_file: bytes) -> "tuple[Ending, str | None]":
        """The status and the FailureReason."""
        from smlocal.platforms.sagemaker.outcome.ending import ending

        return ending(outcome, failure_file)

    def reason(self, failure: "Failure") -> str:
        """The FailureReason of a failure that no program caused."""
        from smlocal.platforms.sagemaker.outcome.ending import reason_of

        return reason_of(failure)

    def hint(self, plan: "JobPlan", host: "HostPlan", symptoms: "Symptoms") -> str | None:
        """From the image, the request and the log."""
        from smlocal.platforms.sagemaker.outcome.hint import hint

        return hint(plan, host, symptoms)

    def host_names(self, record: "JobRecord", request: Callable[[], Mapping[str, Any]]) -> list[str]:  # noqa: ARG002 - other platforms need it
        """`algo-1` and so on."""
        from smlocal.platforms.sagemaker.contract.documents.hosts import host_names

        return host_names(record.instances)

    def host_called(self, record: "JobRecord", request: Callable[[], Mapping[str, Any]]) -> Mapping[str, str]:  # noqa: ARG002 - other platforms need it
        """Nothing else: messages, logs and host names are alike."""
        return {}

    def metrics(self, request: Mapping[str, Any]) -> "tuple[MetricDefinition, ...]":
        """MetricDefinitions."""
        from smlocal.platforms.sagemaker.contract.metric_definitions import definitions_of

        return definitions_of(request)

    def docker_command(self, plan: "JobPlan") -> str | None:
        """The `docker run` that starts a failed job again, or what prints a script; None on several engines."""
        if plan.engines:
            return None
        from smlocal.platforms.sagemaker.outcome.docker_command import docker_command

        return docker_command(plan)

    def usage(self, plan: "JobPlan", killed: Collection[str]) -> dict[str, Any] | None:
        """What the hosts used, with advice on instance types."""
        from smlocal.platforms.sagemaker.outcome.usage_block import planned_usage

        return planned_usage(plan, killed)

    def describe(self, stored: "StoredJob", *, final: bool = False) -> dict[str, Any]:  # noqa: ARG002 - the end says everything
        """The DescribeTrainingJob answer."""
        from smlocal.platforms.sagemaker.outcome.answer import answer_of

        return answer_of(stored)

    def still_to_come(self, stored: "StoredJob") -> dict[str, Any]:  # noqa: ARG002 - there is none
        """Nothing."""
        return {}

    def not_interruptible(self, request: Mapping[str, Any]) -> tuple[str, str] | None:
        """Only jobs on spot instances are interrupted."""
        if request.get("EnableManagedSpotTraining"):
            return None
        remedy = "To make it interruptible, set EnableManagedSpotTraining: true in the job file."
        return "does not use spot instances", remedy

    def start(self, plan: "JobPlan") -> "StartView":
        """Image, instances and input modes."""
        from smlocal.platforms.sagemaker.outcome.view import start_of

        return start_of(plan)

    def view(self, stored: "StoredJob", answer: Mapping[str, Any]) -> "JobView":  # noqa: ARG002 - the answer has it all
        """What is shown of a job."""
        from smlocal.platforms.sagemaker.outcome.view import view_of

        return view_of(answer)

    def described_rows(self, view: "JobView", *, supervised: bool) -> Iterable[tuple[str, str]]:
        """The request, the result and the phases."""
        from smlocal.platforms.sagemaker.outcome.view import described_rows

        return described_rows(view.answer, supervised=supervised)

    def words(self, record: "JobRecord") -> tuple[str, str]:
        """TrainingJobStatus and SecondaryStatus; of a job that has ended only if they differ."""
        same = record.status.terminal and str(record.phase) == str(record.status)
        return record.status, "" if same else record.phase

    def spoken(self, record: "JobRecord") -> "Spoken":
        """A training job; StopTrainingJob gives it 120 seconds."""
        from smlocal.job.platform import Spoken

        ended = f"The request was rejected because the training job is in status {record.status}."
        return Spoken(
            job="training job",
            ended=ended,
            stopping="stopping",
            longest_grace=120,
            no_metrics="has no MetricDefinitions",
            no_tensors="saves no tensors: it has no DebugHookConfig",
            no_artifacts=f"It is {record.status}, and no host wrote a model or output data.",
        )

    def listed(self, record: "JobRecord", read: "Callable[[], StoredJob]") -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - the record has everything
        """As ListTrainingJobs answers, with the reason."""
        return "TrainingJobSummaries", {
            "TrainingJobName": record.name,
            "CreationTime": record.created,
            "TrainingEndTime": record.ended,
            "LastModifiedTime": record.modified,
            "TrainingJobStatus": record.status,
            "SecondaryStatus": record.phase,
            "FailureReason": record.failure_reason,
        }

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The members of the request that the answer does not have."""
        from smlocal.platforms.sagemaker.contract.outcome.describe import request_only

        return request_only(request)


PLATFORM: "Final[Platform]" = SageMaker()
