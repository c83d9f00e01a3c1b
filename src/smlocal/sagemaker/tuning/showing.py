"""Tuning jobs in answers and on screens."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from smlocal.base.readable import counted as number_of
from smlocal.base.readable import in_one_line, local_time
from smlocal.jobs.documents import SERVE_PROGRAM
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import RecordedPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, StartView
from smlocal.sagemaker.contract.requested import OBJECTIVE_KEY
from smlocal.sagemaker.tuning.facts import TUNING
from smlocal.terms.statuses import JobPhase, StopCause

_TRAINING_JOBS: Final = "TrainingJobs"
"""The member of `Local` with the training jobs."""
_PHASES: Final = {JobPhase.STARTING: "Starting", JobPhase.TRAINING: "Searching"}
_NO_STATUS: Final = dict.fromkeys(("Completed", "InProgress", "RetryableError", "NonRetryableError", "Stopped"), 0)
_NO_OBJECTIVE: Final = dict.fromkeys(("Succeeded", "Pending", "Failed"), 0)


class TuningShowing(Showing[RecordedPlan]):
    """It has no host, no log and no interruption: its training jobs have."""

    DOCUMENTS = (TUNING,)
    """The search in numbers."""
    LISTED = (TUNING,)
    UNINTERRUPTIBLE = ("is a tuning job, which runs on no instance", "Interrupt one of its training jobs.")
    HAS_PAGE_PARTS = True

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The DescribeHyperParameterTuningJob answer."""
        record, request = stored.record, stored.documents["request"]
        state = stored.documents.get(TUNING) or {}
        over = record.status.terminal
        details = {
            "NumberOfTrainingJobsObjectiveNotImproving": state.get("NotImproving"),
            "ConvergenceDetectedTime": state.get("Converged"),
        }
        known = {
            "HyperParameterTuningJobName": record.name,
            "HyperParameterTuningJobArn": record.arn,
            **_echoed(request),
            "HyperParameterTuningJobStatus": str(record.status),
            "CreationTime": record.created,
            "HyperParameterTuningEndTime": (record.ended or record.modified) if over else None,
            "LastModifiedTime": record.modified,
            "TrainingJobStatusCounters": state.get("TrainingJobStatusCounters") or _NO_STATUS,
            "ObjectiveStatusCounters": state.get("ObjectiveStatusCounters") or _NO_OBJECTIVE,
            "BestTrainingJob": state.get("Best"),
            "OverallBestTrainingJob": state.get("Overall"),
            "WarmStartConfig": request.get("WarmStartConfig"),
            "FailureReason": record.failure_reason,
            "TuningJobCompletionDetails": {name: each for name, each in details.items() if each is not None} or None,
            "ConsumedResources": {"RuntimeInSeconds": int(record.modified - record.created)},
        }
        return {name: value for name, value in known.items() if value is not None}

    def still_to_come(self, stored: StoredJob) -> dict[str, Any]:
        """The training jobs that run."""
        if stored.record.status.terminal:
            return {}
        return {"Running": (stored.documents.get(TUNING) or {}).get("Running", [])}

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Members that DescribeHyperParameterTuningJob does not return."""
        return {name: request[name] for name in ("Tags",) if request.get(name)}

    def listed(self, record: JobRecord, read: Callable[[], StoredJob]) -> tuple[str, dict[str, Any]]:
        """As ListHyperParameterTuningJobs answers, with the reason."""
        answer = self.describe(read())
        config = answer["HyperParameterTuningJobConfig"]
        return "HyperParameterTuningJobSummaries", {
            "HyperParameterTuningJobName": record.name,
            "HyperParameterTuningJobArn": record.arn,
            "HyperParameterTuningJobStatus": str(record.status),
            "Strategy": config["Strategy"],
            "CreationTime": record.created,
            "HyperParameterTuningEndTime": answer.get("HyperParameterTuningEndTime"),
            "LastModifiedTime": record.modified,
            "TrainingJobStatusCounters": answer["TrainingJobStatusCounters"],
            "ObjectiveStatusCounters": answer["ObjectiveStatusCounters"],
            "ResourceLimits": config["ResourceLimits"],
            "FailureReason": record.failure_reason,
        }

    def with_model(self, store: Store, name: str) -> str:
        """The best training job, if there is one."""
        best = (store.document(name, TUNING) or {}).get("Best") or {}
        return str(best.get("TrainingJobName", name))

    def words(self, record: JobRecord) -> tuple[str, str]:
        """The status says everything."""
        return str(record.status), "" if record.status.terminal else "tuning"

    def outcome(self, documents: Mapping[str, Any]) -> str:
        """The best value so far: `loss 0.127`."""
        best = (documents.get(TUNING) or {}).get("Best")
        if best is None:
            return ""
        objective = best["FinalHyperParameterTuningJobObjectiveMetric"]
        return f"{objective['MetricName']} {objective['Value']:.4g}"

    def cause(self, record: JobRecord, local: Mapping[str, Any]) -> str:
        """Why its training jobs failed, if any did."""
        return " ".join(_failures(local)) or super().cause(record, local)

    def spoken(self, record: JobRecord) -> Spoken:
        """A tuning job; its training jobs have 120 seconds."""
        return Spoken(
            job="tuning job",
            ended=f"The request was rejected because the tuning job is in status {record.status}.",
            stopping="stopping",
            longest_grace=120,
            no_metrics="has no metrics of its own; its training jobs have them",
            no_tensors="saves no tensors: its training jobs may",
            no_artifacts="It is a tuning job; its training jobs have artifacts.",
            no_log="has no log of its own. Its training jobs have logs:",
        )

    def start(self, plan: RecordedPlan) -> StartView:
        """`my-image · Random · 20 training jobs, 4 at once`."""
        config = plan.request["HyperParameterTuningJobConfig"]
        limits = config["ResourceLimits"]
        most = limits.get("MaxNumberOfTrainingJobs")
        jobs = "all training jobs" if most is None else f"{most:,} training jobs"
        image, parallel = plan.details["Image"]["Name"], limits["MaxParallelTrainingJobs"]
        at_once = parallel if most is None else min(parallel, most)
        return StartView(
            about=f"{image} · {config['Strategy']} · {jobs}, {at_once:,} at once",
            members={
                "HyperParameterTuningJobName": plan.name,
                "TrainingImage": image,
                "Strategy": config["Strategy"],
            },
            phases={str(JobPhase.TRAINING): _PHASES[JobPhase.TRAINING]},
            causes={StopCause.REQUEST: "training jobs are being stopped"},
        )

    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
        """What is shown of a tuning job."""
        record = stored.record
        stages = self.stages(stored, _PHASES)
        members = ("HyperParameterTuningJobName", "HyperParameterTuningJobStatus", "FailureReason", "BestTrainingJob")
        return JobView(
            name=record.name,
            status=record.status,
            state=str(record.status),
            why="",
            reason=record.failure_reason or "",
            created=record.created,
            began=min((each.began for each in stages if each.name == "Searching"), default=record.created),
            seconds=record.modified - record.created,
            stages=stages,
            members={each: answer.get(each) for each in members},
            answer=answer,
            results=tuple((head.lower(), text) for head, text in _results(answer)),
            notes=tuple(("because", each) for each in _failures(answer["Local"])) if record.failure_reason else (),
            leads_to=(f"deploy {record.name}",)
            if answer["Local"].get(SERVE_PROGRAM) and answer.get("BestTrainingJob")
            else (),
            log_of=_first_failed(answer["Local"]),
            shell=False,
        )

    def described_rows(self, view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
        """The search and its best training job."""
        answer, local = view.answer, view.local
        config = answer["HyperParameterTuningJobConfig"]
        yield "Tuning job", view.name
        yield "Status", view.state
        if view.reason:
            yield "Reason", view.reason
        yield "ARN", answer["HyperParameterTuningJobArn"]
        yield "Strategy", config["Strategy"]
        yield "Created", local_time(answer["CreationTime"])
        if not view.status.terminal:
            yield (
                "Supervisor",
                f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting",
            )
            if local.get("Running"):
                yield "Running", "\n".join(local["Running"])
        elif local.get("EndedBecause"):
            yield "Ended", local["EndedBecause"]
        yield from (("Because", each) for each in _failures(local) if view.reason)
        yield from _results(answer)


SHOWING: Final = TuningShowing()


def _echoed(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request, with what clients find in it.

    The service adds the objective to the static hyperparameters. SDK v2 asks for HyperParameterTuningResourceConfig and
    reads ResourceConfig.
    """
    config = request["HyperParameterTuningJobConfig"]
    one, several = request.get("TrainingJobDefinition"), request.get("TrainingJobDefinitions")

    def with_objective(definition: Mapping[str, Any]) -> dict[str, Any]:
        objective = definition.get("TuningObjective") or config.get("HyperParameterTuningJobObjective") or {}
        added = {OBJECTIVE_KEY: objective.get("MetricName", "")}
        statics = {"StaticHyperParameters": {**added, **(definition.get("StaticHyperParameters") or {})}}
        tuned = definition.get("HyperParameterTuningResourceConfig") or {}
        if "ResourceConfig" in definition or "InstanceType" not in tuned:
            return {**definition, **statics}
        kept = {name: tuned[name] for name in ("InstanceType", "InstanceCount", "VolumeKmsKeyId") if name in tuned}
        return {**definition, **statics, "ResourceConfig": {"VolumeSizeInGB": tuned.get("VolumeSizeInGB", 0), **kept}}

    return {
        "HyperParameterTuningJobConfig": config,
        "TrainingJobDefinition": None if one is None else with_objective(one),
        "TrainingJobDefinitions": None if several is None else [with_objective(each) for each in several],
    }


def _failed(local: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Its failed training jobs, oldest first."""
    return [each for each in local.get(_TRAINING_JOBS) or () if each["TrainingJobStatus"] == "Failed"]


def _first_failed(local: Mapping[str, Any]) -> str:
    return next((each["TrainingJobName"] for each in _failed(local)), "")


def _failures(local: Mapping[str, Any]) -> Iterator[str]:
    """Why training jobs failed, in one line; nothing if none failed."""
    failed, made = _failed(local), len(local.get(_TRAINING_JOBS) or ())
    reasons = [each.get("Cause") or in_one_line(each.get("FailureReason")) for each in failed]
    if not failed:
        return
    if len(failed) > 1 and len(set(reasons)) == 1:
        which = f"all {made:,}" if len(failed) == made else f"{len(failed):,} of {made:,}"
        yield f"{which} failed with the same reason: {reasons[0]}"
    else:
        first = "the first" if len(failed) > 1 else "one"
        of_all = f"{len(failed):,} of {number_of(made, 'training job')} failed"
        yield f"{of_all}; {first}, {failed[0]['TrainingJobName']}: {reasons[0]}"


def _results(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The best training job, and how many ended how."""
    yield "Jobs", counted(answer["TrainingJobStatusCounters"])
    best = answer.get("BestTrainingJob")
    if best is not None:
        objective = best["FinalHyperParameterTuningJobObjectiveMetric"]
        tuned = " ".join(f"{name}={value}" for name, value in best["TunedHyperParameters"].items())
        yield "Best", f"{best['TrainingJobName']}, {objective['MetricName']} {objective['Value']:.6g}\n{tuned}"


def counted(counters: Mapping[str, int]) -> str:
    """`18 completed, 2 failed`."""
    said = (
        ("completed", counters["Completed"]),
        ("running", counters["InProgress"]),
        ("failed", counters["RetryableError"] + counters["NonRetryableError"]),
        ("stopped", counters["Stopped"]),
    )
    return ", ".join(f"{count:,} {word}" for word, count in said if count) or "none"
