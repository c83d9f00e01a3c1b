"""Processing jobs in answers and on screens."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.base.readable import counted, local_time
from smlocal.jobs.documents import LOCAL, RECALL, REQUEST
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall_containers
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, OutputFolder, StartView
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.workload import shown
from smlocal.sagemaker.training import showing as training
from smlocal.terms.statuses import JobPhase, JobStatus

EXIT_MESSAGE: Final = "ExitMessage"
OUTPUTS: Final = "Outputs"
LOST: Final = "Lost"
_NAMED: Final = 3
"""Files that are lost."""
_PROCESSING: Final = "Processing"
_ECHOED: Final = (
    *("ProcessingInputs", "ProcessingOutputConfig", "ProcessingResources", "StoppingCondition", "AppSpecification"),
    *("Environment", "NetworkConfig", "RoleArn", "ExperimentConfig"),
)
_SHOWN: Final = 200
"""Characters of a message on a screen."""


class ProcessingShowing(Showing[JobPlan]):
    """Words of DescribeProcessingJob and ListProcessingJobs."""

    DOCUMENTS = (RECALL,)
    """Where the outputs go."""
    NO_CAUSE = ("AlgorithmError: , exit code: ", "InternalServerError")
    UNINTERRUPTIBLE = ("is a processing job, which has no spot interruptions", "To end it: smlocal stop.")
    HAS_PAGE_PARTS = True

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The DescribeProcessingJob answer, in the service's order."""
        record, request = stored.record, stored.documents[REQUEST]
        echoed = {name: value for name, value in _completed(request).items() if value is not None}
        message = stored.documents.get(LOCAL, {}).get(EXIT_MESSAGE)
        return {
            **{name: echoed[name] for name in _ECHOED[:2] if name in echoed},
            "ProcessingJobName": record.name,
            **{name: echoed[name] for name in _ECHOED[2:] if name in echoed},
            "ProcessingJobArn": record.arn,
            "ProcessingJobStatus": record.status,
            **({EXIT_MESSAGE: message} if message and record.status.terminal else {}),
            **({} if record.failure_reason is None else {"FailureReason": record.failure_reason}),
            **({} if record.ended is None else {"ProcessingEndTime": record.ended}),
            **({} if record.started is None else {"ProcessingStartTime": record.started}),
            "LastModifiedTime": record.modified,
            "CreationTime": record.created,
        }

    def still_to_come(self, stored: StoredJob) -> dict[str, Any]:
        """Where the outputs of a running job go."""
        recalled = stored.documents.get(RECALL)
        if OUTPUTS in stored.documents.get(LOCAL, {}) or recalled is None:
            return {}
        return {OUTPUTS: list(shown(recall_containers(recalled).mirrored.collectors))}

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """DescribeProcessingJob has no tags."""
        return {"Tags": request["Tags"]} if request.get("Tags") is not None else {}

    def listed(self, record: JobRecord, read: Callable[[], StoredJob]) -> tuple[str, dict[str, Any]]:
        """As ListProcessingJobs answers."""
        message = read().documents.get(LOCAL, {}).get(EXIT_MESSAGE) if record.status.terminal else None
        return "ProcessingJobSummaries", {
            "ProcessingJobName": record.name,
            "ProcessingJobArn": record.arn,
            "CreationTime": record.created,
            "ProcessingEndTime": record.ended,
            "LastModifiedTime": record.modified,
            "ProcessingJobStatus": record.status,
            "FailureReason": record.failure_reason,
            EXIT_MESSAGE: message or None,
        }

    def words(self, record: JobRecord) -> tuple[str, str]:
        """ProcessingJobStatus, and the present work."""
        if record.status.terminal:
            return record.status, _why(record.phase, record.status)
        return record.status, _phase(record.phase)

    def spoken(self, record: JobRecord) -> Spoken:
        """A processing job."""
        return Spoken(
            job="processing job",
            ended=f"The request was rejected because the processing job is in status {record.status}.",
            stopping="stopping",
            longest_grace=120,
            no_metrics="has no metrics: it is a processing job",
            no_tensors="saves no tensors: it is a processing job",
            no_artifacts="It is a processing job, whose outputs went where its request says.",
        )

    def host_names(self, record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> list[str]:
        """`algo-1` and so on."""
        return training.SHOWING.host_names(record, request)

    def start(self, plan: JobPlan) -> StartView:
        """`my-image · 1 × ml.m5.large · 2 inputs, 1 output`."""
        kind = plan.hosts[0].host.instance_type
        data = [counted(len(plan.trees) + len(plan.pipes), "input"), counted(len(plan.mirrored.collectors), "output")]
        return StartView(
            about=f"{plan.image.name} · {len(plan.hosts)} × {kind} · {', '.join(data)}",
            members={
                "ProcessingJobName": plan.name,
                "ImageUri": plan.image.name,
                "Hosts": [{"Name": each.host.name, "InstanceType": each.host.instance_type} for each in plan.hosts],
            },
            phases={str(JobPhase.TRAINING): _PROCESSING},
            causes=training.CAUSES,
        )

    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
        """The view of a job."""
        record = stored.record
        stages = self.stages(stored, {JobPhase.TRAINING: _PROCESSING})
        message = answer.get(EXIT_MESSAGE)
        members = ("ProcessingJobName", "ProcessingJobStatus", "FailureReason", EXIT_MESSAGE)
        return JobView(
            name=record.name,
            status=record.status,
            state=record.status,
            why=_why(record.phase, record.status) if record.status.terminal else _phase(record.phase),
            reason=record.failure_reason or "",
            created=record.created,
            began=min((each.began for each in stages if each.name == _PROCESSING), default=record.created),
            seconds=record.modified - record.created,
            stages=stages,
            members={each: answer.get(each) for each in members},
            answer=answer,
            notes=(("message", _short(message)),) if message else (),
            outputs=tuple(
                OutputFolder(name=each["Name"], folder=each["Directory"], location=each["Published"] or "")
                for each in answer["Local"].get(OUTPUTS, ())
                if not record.status.terminal or os.path.isdir(each["Directory"])
            ),
            unexpected=tuple(_lost(answer["Local"].get(LOST, ()))),
        )

    def described_rows(self, view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
        """The rows of `smlocal describe`."""
        answer, local = view.answer, view.local
        app = answer["AppSpecification"]
        yield "Job", view.name
        yield "Status", view.ended_as
        if view.reason:
            yield "Reason", view.reason
        if answer.get(EXIT_MESSAGE):
            yield "Message", answer[EXIT_MESSAGE]
        yield "ARN", answer["ProcessingJobArn"]
        yield "Image", app["ImageUri"]
        program = [*(app.get("ContainerEntrypoint") or ()), *(app.get("ContainerArguments") or ())]
        if program:
            yield "Program", " ".join(program)
        yield "Hosts", instances_of(answer)
        yield "Created", local_time(answer["CreationTime"])
        if not view.status.terminal:
            running = supervised and local.get("SupervisorPid")
            yield "Supervisor", f"process {local['SupervisorPid']}" if running else "not running; a new one is starting"
        for each in local.get(OUTPUTS, ()):
            stands = f"\nfor {each['S3Uri']}" if each["S3Uri"].startswith(("s3://", "https://")) else ""
            yield "Output", f"{each['Name']}: {each['Published'] or each['Directory']}{stands}"
        if local.get("ContainersKept"):
            yield "Containers", f"kept, with their folders\nsmlocal rm {view.name} removes them"
        yield from ((name.capitalize(), text) for name, text in _lost(local.get(LOST, ())))
        for path, kept in (local.get("Artifacts") or {}).get("NotSaved", {}).items():
            yield "Not saved", f"{path}: kept in {kept}\nsmlocal pack {view.name} --output DIR saves it"
        yield "Phases", ""
        for stage in view.stages:
            if not stage.final and stage.ended is not None:
                seconds = f"{stage.ended - stage.began:.1f} s"
                yield f"  {stage.name:<12}{seconds:>9}", ""


SHOWING: Final = ProcessingShowing()


def instances_of(answer: Mapping[str, Any]) -> str:
    """`2 × ml.m5.large`."""
    cluster = answer["ProcessingResources"]["ClusterConfig"]
    return f"{cluster['InstanceCount']} × {cluster.get('InstanceType', '')}"


def _completed(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with the members that every answer of the service has."""
    resources = (request.get("ProcessingResources") or {}).get("ClusterConfig") or {}
    usual: dict[str, Any] = {"InstanceCount": 1, "VolumeSizeInGB": facts.VOLUME_GB}
    if not resources.get("InstancePreferences"):
        usual["InstanceType"] = "local"
    inputs = [_with(each, "S3Input", {"S3DataType": "S3Prefix"}) for each in request.get("ProcessingInputs") or ()]
    config = request.get("ProcessingOutputConfig")
    outputs = None
    if config is not None:
        given = [_with(each, "S3Output", {"S3UploadMode": "EndOfJob"}) for each in config.get("Outputs") or ()]
        outputs = {**config, "Outputs": given}
    return {
        **{name: request.get(name) for name in _ECHOED},
        "ProcessingInputs": inputs if request.get("ProcessingInputs") is not None else None,
        "ProcessingOutputConfig": outputs,
        "ProcessingResources": {"ClusterConfig": {**usual, **resources}},
        "StoppingCondition": request.get("StoppingCondition") or {"MaxRuntimeInSeconds": facts.MAX_RUNTIME},
    }


def _with(given: Mapping[str, Any], member: str, usual: Mapping[str, Any]) -> dict[str, Any]:
    inner = given.get(member)
    return {**given, "AppManaged": bool(given.get("AppManaged")), **({member: {**usual, **inner}} if inner else {})}


def _lost(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    if paths:
        more = len(paths) - _NAMED
        shown = f"{', '.join(paths[:_NAMED])}{f' and {more} more' if more > 0 else ''}"
        yield "lost", f"{shown}: no output takes {'it' if len(paths) == 1 else 'them'}"


def _phase(phase: str) -> str:
    return _PROCESSING if phase == JobPhase.TRAINING else phase


def _why(phase: JobPhase, status: JobStatus) -> str:
    return "" if str(phase) == str(status) else phase


def _short(text: str) -> str:
    first, *more = text.strip().splitlines() or [""]
    return f"{first[:_SHOWN]}…" if more or len(first) > _SHOWN else first
