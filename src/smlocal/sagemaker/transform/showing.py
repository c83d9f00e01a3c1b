"""Transform jobs in answers and on screens."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.readable import counted, local_time
from smlocal.jobs.documents import LOCAL
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, StartView
from smlocal.sagemaker.serving import facts as of_endpoints
from smlocal.sagemaker.transform import facts
from smlocal.terms.statuses import JobPhase, StopCause

_SHOWN: Final = 5
"""Objects that failed."""
RESULTS: Final = "Transform"
"""The member of the `Local` block with the results."""
_PHASES: Final = {
    JobPhase.STARTING: "Preparing",
    JobPhase.DOWNLOADING: "Preparing",
    JobPhase.TRAINING: "Transforming",
    JobPhase.UPLOADING: "Uploading",
}
_ANSWERED: Final = (
    *("ModelName", "MaxConcurrentTransforms", "ModelClientConfig", "MaxPayloadInMB", "BatchStrategy", "Environment"),
    *("TransformInput", "TransformOutput", "DataCaptureConfig", "TransformResources", "DataProcessing"),
    "ExperimentConfig",
)
"""The members of the request that the answer repeats."""


class TransformShowing(Showing[JobPlan]):
    """As a batch of requests."""

    HOSTS = (facts.HOST, facts.DATA_LOG)
    """The container, and the log of what became of the input."""
    LIST = "TransformJobSummaries"
    LISTED = (LOCAL,)
    NO_CAUSE = (facts.SEE_LOGS_CLIENT, facts.SEE_LOGS, "InternalServerError")
    UNINTERRUPTIBLE = ("is a transform job, which has no spot interruptions", "To end it: smlocal stop.")
    HAS_PAGE_PARTS = True

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The DescribeTransformJob answer."""
        record, request = stored.record, stored.documents["request"]
        return {
            "TransformJobName": record.name,
            "TransformJobArn": record.arn,
            "TransformJobStatus": record.status,
            **({"FailureReason": record.failure_reason} if record.failure_reason else {}),
            "ModelName": record.name,
            **{name: request[name] for name in _ANSWERED if name in request},
            "TransformResources": request.get("TransformResources", {"InstanceType": "local", "InstanceCount": 1}),
            "CreationTime": record.created,
            **({"TransformStartTime": record.started} if record.started is not None else {}),
            **({"TransformEndTime": _end(record)} if record.status.terminal else {}),
        }

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The model, and what else the answer leaves out."""
        left_out = {"TransformJobName", *_ANSWERED}
        return {name: value for name, value in request.items() if name not in left_out}

    def entry(self, record: JobRecord) -> dict[str, Any]:
        """As ListTransformJobs answers."""
        return {
            "TransformJobName": record.name,
            "TransformJobArn": record.arn,
            "CreationTime": record.created,
            "TransformEndTime": _end(record) if record.status.terminal else None,
            "LastModifiedTime": record.modified,
            "TransformJobStatus": record.status,
            "FailureReason": record.failure_reason,
        }

    def words(self, record: JobRecord) -> tuple[str, str]:
        """The status, and the present work."""
        return str(record.status), "" if record.status.terminal else _PHASES.get(record.phase, "")

    def outcome(self, documents: Mapping[str, Any]) -> str:
        """The number of requests to the container."""
        found = documents.get(LOCAL, {}).get(RESULTS)
        return "" if found is None else counted(found["Requests"], "request")

    def spoken(self, record: JobRecord) -> Spoken:
        """A transform job."""
        return Spoken(
            job="transform job",
            ended=f"The transform job '{record.name}' has ended: it is {record.status}.",
            stopping="stopping",
            longest_grace=of_endpoints.STOP_SECONDS,
            no_metrics="has no metrics: it is a transform job",
            no_tensors="saves no tensors: it is a transform job",
            no_artifacts="It is a transform job: its output is in the folder that describe shows.",
        )

    def start(self, plan: JobPlan) -> StartView:
        """`my-image · local`."""
        host = plan.hosts[0].host
        return StartView(
            about=f"{plan.image.name} · {host.instance_type}",
            members={"TransformJobName": plan.name, "Image": plan.image.name, "InstanceType": host.instance_type},
            phases={str(phase): word for phase, word in _PHASES.items() if phase is not JobPhase.STARTING},
            causes={StopCause.REQUEST: "SIGTERM sent"},
        )

    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
        """What is shown of a transform job."""
        record = stored.record
        stages = self.stages(stored, _PHASES)
        members = ("TransformJobName", "TransformJobStatus", "FailureReason")
        return JobView(
            name=record.name,
            status=record.status,
            state=str(record.status),
            why="",
            reason=record.failure_reason or "",
            created=record.created,
            began=record.created if record.started is None else record.started,
            seconds=record.modified - record.created,
            stages=stages,
            members={each: answer.get(each) for each in members},
            answer=answer,
            shell=False,
            results=tuple(_end_rows(answer["Local"])),
        )

    def described_rows(self, view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
        """What is transformed, by what, and what became of it."""
        answer, local = view.answer, view.local
        container = local["Request"].get("PrimaryContainer") or {}
        yield "Transform", view.name
        yield "Status", view.state
        if view.reason:
            yield "Reason", view.reason
        yield "ARN", answer["TransformJobArn"]
        yield "Image", container.get("Image", "")
        yield "Input", answer["TransformInput"]["DataSource"]["S3DataSource"]["S3Uri"]
        yield from _results(local)
        yield "Created", local_time(answer["CreationTime"])
        if not view.status.terminal:
            yield (
                "Supervisor",
                f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting",
            )


SHOWING: Final = TransformShowing()


def _end(record: JobRecord) -> float:
    return record.modified if record.ended is None else record.ended


def _end_rows(local: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The output, and failed objects except the first, which is in the explanation."""
    found = local.get(RESULTS)
    if found is None:
        return
    yield "output", _output(found)
    told = local.get("Explanation") or ""
    causes = [each for each in found.get("Causes", ()) if each not in told]
    yield from (("failed", each) for each in causes[:_SHOWN])
    if len(causes) > _SHOWN:
        yield "", f"and {len(causes) - _SHOWN:,} more: see the data log"


def _results(local: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The output, and the objects without one."""
    found = local.get(RESULTS)
    if found is None:
        return
    yield "Output", _output(found)
    failed = found.get("Causes") or found["Failed"]
    if failed:
        more = len(failed) - _SHOWN
        yield "Failed", "\n".join([*failed[:_SHOWN], *([f"and {more:,} more: see the data log"] if more > 0 else [])])


def _output(found: Mapping[str, Any]) -> str:
    objects, requests = counted(found["Objects"], "object"), counted(found["Requests"], "request")
    return f"{found['Directory']}   {found['Outputs']:,} of {objects}, {requests}"
