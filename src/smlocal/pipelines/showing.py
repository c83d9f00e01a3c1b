"""Executions in answers and on screens."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from smlocal.base.readable import local_time
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import RecordedPlan
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, StartView
from smlocal.sagemaker.pipelines.stored import STATE, described
from smlocal.terms.statuses import JobPhase, StopCause

_PHASES: Final = {JobPhase.STARTING: "Starting", JobPhase.TRAINING: "Executing"}


class PipelineShowing(Showing[RecordedPlan]):
    """It has no host, no log and no interruption: the jobs of its steps have."""

    DOCUMENTS = (STATE,)
    LISTED = (STATE,)
    UNINTERRUPTIBLE = ("is an execution of a pipeline, which runs on no instance", "Interrupt the job of a step.")

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The DescribePipelineExecution answer."""
        return described(stored)

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Members that DescribePipelineExecution does not return."""
        return {name: request[name] for name in ("PipelineName", "PipelineParameters") if request.get(name)}

    def listed(self, record: JobRecord, read: Callable[[], StoredJob]) -> tuple[str, dict[str, Any]]:
        """As ListPipelineExecutions answers, with the name here."""
        answer = described(read())
        return "PipelineExecutionSummaries", {
            "Name": record.name,
            "PipelineExecutionArn": record.arn,
            "StartTime": record.created,
            "PipelineExecutionStatus": answer["PipelineExecutionStatus"],
            "PipelineExecutionDisplayName": answer.get("PipelineExecutionDisplayName"),
            "PipelineExecutionFailureReason": record.failure_reason,
        }

    def words(self, record: JobRecord) -> tuple[str, str]:
        """The status says everything."""
        return str(record.status), "" if record.status.terminal else "executing"

    def spoken(self, record: JobRecord) -> Spoken:
        """An execution; the jobs of its steps have 120 seconds."""
        return Spoken(
            job="pipeline execution",
            ended=f"Only pipelines with 'Executing' status can be stopped; this one is in status {record.status}.",
            stopping="stopping",
            longest_grace=120,
            no_metrics="has no metrics of its own; the jobs of its steps have them",
            no_tensors="saves no tensors: the jobs of its steps may",
            no_artifacts="It is an execution of a pipeline; the jobs of its steps have artifacts.",
            no_log="has no log of its own. The jobs of its steps have logs",
        )

    def start(self, plan: RecordedPlan) -> StartView:
        """`abalone · 5 steps`."""
        return StartView(
            about=str(plan.request["PipelineName"]),
            members={"PipelineExecutionArn": plan.identity.arn, "PipelineName": plan.request["PipelineName"]},
            phases={str(JobPhase.TRAINING): _PHASES[JobPhase.TRAINING]},
            causes={StopCause.REQUEST: "its steps are being stopped"},
        )

    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
        """What is shown of an execution."""
        record = stored.record
        stages = self.stages(stored, _PHASES)
        members = ("PipelineExecutionArn", "PipelineExecutionStatus", "FailureReason")
        return JobView(
            name=record.name,
            status=record.status,
            state=answer["PipelineExecutionStatus"],
            why="",
            reason=record.failure_reason or "",
            created=record.created,
            began=min((each.began for each in stages if each.name == "Executing"), default=record.created),
            seconds=record.modified - record.created,
            stages=stages,
            members={each: answer.get(each) for each in members},
            answer=answer,
            shell=False,
        )

    def described_rows(self, view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
        """The execution."""
        answer, local = view.answer, view.local
        yield "Execution", view.name
        yield "Status", view.state
        if view.reason:
            yield "Reason", view.reason
        yield "ARN", answer["PipelineExecutionArn"]
        yield "Created", local_time(answer["CreationTime"])
        if not view.status.terminal:
            yield (
                "Supervisor",
                f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting",
            )


SHOWING: Final = PipelineShowing()
