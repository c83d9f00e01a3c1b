"""Executions in answers and on screens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.base.readable import counted, local_time
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import RecordedPlan
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, Rows, StartView
from smlocal.sagemaker.pipelines.stored import OUTLINE, STATE, described
from smlocal.terms.statuses import JobPhase, JobStatus, StopCause

_PHASES: Final = {JobPhase.STARTING: "Starting", JobPhase.TRAINING: "Executing"}


class PipelineShowing(Showing[RecordedPlan]):
    """It has no host, no log and no interruption: the jobs of its steps have."""

    DOCUMENTS = (STATE,)
    LISTED = (STATE,)
    HAS_PAGE_PARTS = True
    NO_CAUSE = ("Step failure",)
    UNINTERRUPTIBLE = ("is an execution of a pipeline, which runs on no instance", "Interrupt the job of a step.")

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The DescribePipelineExecution answer."""
        return described(stored)

    def further(self, stored: StoredJob, read: Callable[[Sequence[str]], Mapping[str, Any]]) -> dict[str, Any]:
        """Its steps."""
        from smlocal.pipelines.shown_steps import STEPS, steps_block  # the expressions: not for a list

        return {STEPS: steps_block(stored, read)}

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

    def outcome(self, documents: Mapping[str, Any]) -> str:
        """`3 steps`: those that have begun."""
        return counted(len((documents.get(STATE) or {}).get("Names", ())), "step")

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
            no_log="has no log of its own. The jobs of its steps have logs:",
        )

    def start(self, plan: RecordedPlan) -> StartView:
        """`abalone · 5 steps`."""
        steps = plan.details[OUTLINE]["Steps"]
        return StartView(
            about=f"{plan.request['PipelineName']} · {counted(len(steps), 'step')}",
            members={"PipelineExecutionArn": plan.identity.arn, "PipelineName": plan.request["PipelineName"]},
            phases={str(JobPhase.TRAINING): _PHASES[JobPhase.TRAINING]},
            causes={StopCause.REQUEST: "its steps are being stopped"},
            longest_step=max((len(step["Name"]) for step in steps), default=0),
        )

    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
        """What is shown of an execution."""
        record = stored.record
        stages = self.stages(stored, _PHASES)
        steps = answer["Local"].get("Steps", ())
        failed = [each for each in steps if each["Status"] == "Failed"]
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
            results=_results(record, steps),
            shell=False,
            log_of=next((f"{record.name}/{each['Name']}" for each in failed if "Job" in each), None),
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
        from smlocal.pipelines.shown_steps import STEPS, step_rows

        yield from step_rows(local[STEPS])

    def detailed_rows(self, view: JobView) -> Iterator[tuple[str, str]]:
        """The values of the steps, as they are written and as they were."""
        from smlocal.pipelines.shown_steps import STEPS, value_rows

        return value_rows(view.local[STEPS])


def _results(record: JobRecord, steps: Sequence[Mapping[str, Any]]) -> Rows:
    if not record.status.terminal or record.status is JobStatus.FAILED:
        return ()  # what is at the end is then the reason
    from smlocal.pipelines.shown_steps import result_rows

    return tuple(result_rows(record.name, steps))


SHOWING: Final = PipelineShowing()
