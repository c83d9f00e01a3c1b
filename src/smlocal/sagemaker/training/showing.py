"""SageMaker's jobs in answers and on screens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.base.readable import local_time
from smlocal.jobs.documents import FINAL_METRICS, JOB, LOCAL, REQUEST, RULES, SERVE_PROGRAM, TUNED_BY
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.store.resources import WARM_POOL, state_of
from smlocal.jobs.view import JobView, Stage, StartView
from smlocal.sagemaker.contract.documents.config_files import host_names as names_of
from smlocal.sagemaker.contract.outcome.describe import JobFacts, TransitionFacts, request_only
from smlocal.sagemaker.contract.outcome.describe import describe as answer
from smlocal.sagemaker.contract.requested import OBJECTIVE_KEY, definitions_of, selected_preference
from smlocal.terms.masking import without_passwords
from smlocal.terms.statuses import JobStatus, StopCause

EMPTY_REASON = "AlgorithmError: , exit code: "
NOT_STARTED = "ClientError: Artifact upload failed:API error"
"""The reason if the engine could not start the container, before the engine's words."""
NO_TEXT = "The reason has no text, because nothing was written to /opt/ml/output/failure."
NO_MODEL = "none: nothing was left in /opt/ml/model"
_SHOWN = 200
"""Characters of a failure file."""
_FINAL = {"Completed", "Failed", "Stopped", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"}
CAUSES = {
    StopCause.REQUEST: "SIGTERM sent",
    StopCause.MAX_RUNTIME: "MaxRuntimeInSeconds reached, SIGTERM sent",
    StopCause.MAX_WAIT: "MaxWaitTimeInSeconds reached, SIGTERM sent",
}


class TrainingShowing(Showing[JobPlan]):
    """Words of DescribeTrainingJob and ListTrainingJobs."""

    DOCUMENTS = (TUNED_BY, JOB, WARM_POOL)
    """The tuning job that has made it, its job file, and its warm pool."""
    LIST = "TrainingJobSummaries"
    HAS_PAGE_PARTS = True
    LISTED = (LOCAL, REQUEST)
    NO_CAUSE = (EMPTY_REASON, NOT_STARTED, "InternalServerError")
    request_only = staticmethod(request_only)
    metrics = staticmethod(definitions_of)

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The DescribeTrainingJob answer."""
        record, local = stored.record, stored.documents.get(LOCAL, {})
        return answer(
            stored.documents[REQUEST],
            JobFacts(
                name=record.name,
                arn=record.arn,
                status=record.status,
                phase=record.phase,
                created=record.created,
                modified=record.modified,
                started=record.started,
                ended=record.ended,
                failure_reason=record.failure_reason,
                transitions=[
                    TransitionFacts(status=each.status, started=each.started, ended=each.ended, message=each.message)
                    for each in stored.transitions
                ],
                model_uri=record.model_uri,
                rules=stored.documents.get(RULES),
                final_metrics=local.get(FINAL_METRICS, ()) if record.status.terminal else (),
                selected=_selected(stored),
                pool=state_of(record, stored.documents.get(WARM_POOL)),
                tuning_job=(stored.documents.get(TUNED_BY) or {}).get("Arn"),
            ),
        )

    def words(self, record: JobRecord) -> tuple[str, str]:
        """TrainingJobStatus and SecondaryStatus; of a job that has ended only if they differ."""
        same = record.status.terminal and str(record.phase) == str(record.status)
        return record.status, "" if same else record.phase

    def outcome(self, documents: Mapping[str, Any]) -> str:
        """The objective of its search, or its first metric: `loss 0.127`."""
        found = {each["MetricName"]: each["Value"] for each in documents.get(LOCAL, {}).get(FINAL_METRICS) or ()}
        objective = (documents.get(REQUEST, {}).get("HyperParameters") or {}).get(OBJECTIVE_KEY)
        name = objective if objective in found else next(iter(found), None)
        return "" if name is None else f"{name} {found[name]:.4g}"

    def spoken(self, record: JobRecord) -> Spoken:
        """A training job; StopTrainingJob gives it 120 seconds."""
        return Spoken(
            job="training job",
            ended=f"The request was rejected because the training job is in status {record.status}.",
            stopping="stopping",
            longest_grace=120,
            no_metrics="has no MetricDefinitions",
            no_tensors="saves no tensors: it has no DebugHookConfig",
            no_artifacts=f"It is {record.status}, and no host wrote a model or output data.",
        )

    def entry(self, record: JobRecord) -> dict[str, Any]:
        """As ListTrainingJobs answers, with the reason."""
        return {
            "TrainingJobName": record.name,
            "CreationTime": record.created,
            "TrainingEndTime": record.ended,
            "LastModifiedTime": record.modified,
            "TrainingJobStatus": record.status,
            "SecondaryStatus": record.phase,
            "FailureReason": record.failure_reason,
        }

    def host_names(self, record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> list[str]:  # noqa: ARG002 - the record says how many
        """`algo-1` and so on."""
        return names_of(record.instances)

    def not_interruptible(self, request: Mapping[str, Any]) -> tuple[str, str] | None:
        """Only jobs on spot instances are interrupted."""
        if request.get("EnableManagedSpotTraining"):
            return None
        remedy = "To make it interruptible, set EnableManagedSpotTraining: true in the job file."
        return "does not use spot instances", remedy

    def start(self, plan: JobPlan) -> StartView:
        """`1 × ml.m5.large · File`."""
        specification = plan.request.get("AlgorithmSpecification") or {}
        default = specification.get("TrainingInputMode") or "File"
        modes = {channel.get("InputMode") or default for channel in plan.request.get("InputDataConfig") or ()}
        size = f"{len(plan.hosts)} × {plan.hosts[0].host.instance_type}"
        where = [f"{len(plan.engines.several)} engines"] if plan.engines.several else []
        return StartView(
            about=" · ".join((plan.image.name, size, *where, ", ".join(sorted(modes or {"no channels"})))),
            members={
                "TrainingJobName": plan.name,
                "TrainingImage": plan.image.name,
                "Hosts": [
                    {
                        "Name": each.host.name,
                        "InstanceType": each.host.instance_type,
                        **({"Engine": each.engine} if each.engine else {}),
                    }
                    for each in plan.hosts
                ],
            },
            phases={},
            causes=CAUSES,
        )

    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:  # noqa: ARG002 - the answer has it all
        """The view of a job."""
        return view_of(answer)

    def described_rows(self, view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
        """The rows of `smlocal describe`: the request, the result and the phases."""
        answer = view.answer
        local = answer["Local"]
        running = answer["TrainingJobStatus"] in {"InProgress", "Stopping"}
        for name, value in (*_about(answer), *_places(answer, local, running=running, supervised=supervised)):
            yield name, str(value)
        yield "Phases", ""
        yield from _phases(answer["SecondaryStatusTransitions"], local.get("Seconds", {}))


SHOWING: Final = TrainingShowing()


def _selected(stored: StoredJob) -> tuple[str, int] | None:
    """The chosen one of `InstancePreferences`, once there are instances."""
    resources = stored.documents[REQUEST].get("ResourceConfig") or {}
    if not resources.get("InstancePreferences") or stored.record.started is None:
        return None
    local = ((stored.documents.get(JOB) or {}).get("Data") or {}).get("Local") or {}
    return selected_preference(resources, local.get("Faults") or ())


def view_of(answer: Mapping[str, Any]) -> JobView:
    """From the DescribeTrainingJob answer with its `Local` block."""
    status, secondary = answer["TrainingJobStatus"], answer["SecondaryStatus"]
    reason = answer.get("FailureReason") or ""
    members = ("TrainingJobName", "TrainingJobStatus", "SecondaryStatus", "FailureReason")
    stages = tuple(
        Stage(
            name=each["Status"],
            message=each.get("StatusMessage", ""),
            began=each["StartTime"],
            ended=each.get("EndTime"),
            final=each["Status"] in _FINAL,
        )
        for each in answer.get("SecondaryStatusTransitions", ())
    )
    starts = [each.began for each in stages if each.name == "Training"]
    return JobView(
        name=answer["TrainingJobName"],
        status=JobStatus(status),
        state=status,
        why="" if secondary == status else secondary,
        reason=reason,
        created=answer["CreationTime"],
        began=float(min(starts, default=answer["CreationTime"])),
        seconds=answer["LastModifiedTime"] - answer["CreationTime"],
        stages=stages,
        members={each: answer.get(each) for each in members},
        answer=answer,
        notes=(("note", NO_TEXT),) if reason.startswith(EMPTY_REASON) else (),
        unexpected=tuple(_unexpected(answer["Local"])),
        leads_to=tuple(_further(answer)),
    )


def _further(answer: Mapping[str, Any]) -> Iterator[str]:
    """Next commands for the model."""
    if (answer["Local"].get("Artifacts") or {}).get("Model") and answer["Local"].get(SERVE_PROGRAM):
        yield f"deploy {answer['TrainingJobName']}"


def _unexpected(local: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows for a job that completed."""
    artifacts = local.get("Artifacts") or {}
    yield from (("failure", text) for text in _failure_files(local))
    if not artifacts.get("Model") and not artifacts.get("Kept"):
        yield "model", NO_MODEL


def _failure_files(local: Mapping[str, Any]) -> Iterator[str]:
    files = local.get("FailureFiles") or {}
    for host, text in files.items():
        who = f"the program of {host}" if len(local["Hosts"]) > 1 else "the program"
        first = text.strip().splitlines()[0][:_SHOWN]
        yield f'{who} wrote "{first}" to /opt/ml/output/failure and exited with 0: the service ignores the file'


def _about(answer: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The request and the result."""
    specification = answer.get("AlgorithmSpecification") or {}
    resources = answer.get("ResourceConfig") or {}
    status, secondary = answer["TrainingJobStatus"], answer["SecondaryStatus"]
    yield "Job", answer["TrainingJobName"]
    yield "Status", status if secondary == status else f"{status} ({secondary})"
    if "FailureReason" in answer:
        yield "Reason", answer["FailureReason"]
    yield "ARN", answer["TrainingJobArn"]
    yield "Image", specification.get("TrainingImage", "")
    preferred = " or ".join(each["InstanceType"] for each in resources.get("InstancePreferences") or ())
    kind = resources.get("SelectedInstanceType") or preferred or resources.get("InstanceType", "")
    yield "Hosts", f"{resources.get('SelectedInstanceCount') or resources.get('InstanceCount', 1)} × {kind}"
    if pool := answer.get("WarmPoolStatus"):
        yield "Warm pool", _pool_text(pool, resources.get("KeepAlivePeriodInSeconds", 0))
    yield "Created", local_time(answer["CreationTime"])
    if "TrainingTimeInSeconds" in answer:
        yield "Trained", f"{answer['TrainingTimeInSeconds']} s"
        if answer["BillableTimeInSeconds"] != answer["TrainingTimeInSeconds"]:
            yield "Billable", f"{answer['BillableTimeInSeconds']} s"
    yield from (("Failure file", text) for text in _failure_files(answer["Local"]))


def _pool_text(pool: Mapping[str, Any], seconds: int) -> str:
    retained = pool.get("ResourceRetainedBillableTimeInSeconds")
    by = f" by {pool['ReusedByJob']}" if "ReusedByJob" in pool else ""
    after = f"kept for {seconds} s after the job" if retained is None else f"{retained} s after the job"
    return f"{pool['Status']}{by}, {after}"


def _places(
    answer: Mapping[str, Any], local: Mapping[str, Any], *, running: bool, supervised: bool
) -> Iterator[tuple[str, Any]]:
    """The supervisor, the attempts, and where the artifacts are."""
    if answer["SecondaryStatus"] == "Pending":
        yield "Supervisor", "none; the job waits until smlocal serve starts it"
    elif running:
        yield "Supervisor", f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting"
    if local.get("Attempts", 1) > 1:
        counts = [f"{name.lower()}: {local[name]}" for name in ("Interruptions", "Retries") if local.get(name)]
        yield "Attempts", f"{local['Attempts']} ({', '.join(counts)})"
    artifacts = local.get("Artifacts") or {}
    uri = without_passwords(answer["ModelArtifacts"]["S3ModelArtifacts"])
    if running:
        yield "Model", f"will be {uri}"
    elif artifacts.get("Model"):
        yield "Model", artifacts["Model"] + (f"\nfor {uri}" if uri.startswith("s3://") else "")
    else:
        yield "Model", "none written"
    if artifacts.get("Output"):
        yield "Output", artifacts["Output"]
    if local.get("ContainersKept"):
        yield "Containers", f"kept, with their folders\nsmlocal rm {answer['TrainingJobName']} removes them"
    if artifacts.get("Kept"):
        yield "Kept", f"{artifacts['Kept']}\nsmlocal pack {answer['TrainingJobName']} --output DIR packs it"
    for path, kept in artifacts.get("NotSaved", {}).items():
        yield "Not saved", f"{path}: kept in {kept}\nsmlocal pack {answer['TrainingJobName']} --output DIR saves it"


def _phases(transitions: Sequence[Mapping[str, Any]], measured: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Each phase with its seconds, as the run measured them if the phase occurred once."""
    passed = [transition["Status"] for transition in transitions]
    for transition in transitions:
        status, ended = transition["Status"], transition.get("EndTime")
        seconds = None if ended is None else ended - transition["StartTime"]
        if passed.count(status) == 1:
            seconds = measured.get(status, seconds)
        shown = "" if seconds is None else f"{seconds:.1f} s"
        yield f"  {status:<12}{shown:>9}   ", transition["StatusMessage"]
