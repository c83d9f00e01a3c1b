"""A tuning job on the service: its request with what is to be uploaded before, its creation, its progress and end."""

import os
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC
from typing import Any, Final

from smlocal.data.sources.local_path import is_remote
from smlocal.errors import (
    NameInUseError,
    ServiceForbiddenError,
    ServiceJobUnknownError,
    ServiceRefusedError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import invalid_request
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.sagemaker.contract.requested import OBJECTIVE_KEY
from smlocal.sagemaker.jobfile.request_reading import request_in
from smlocal.sagemaker.kinds import TRAINING
from smlocal.sagemaker.tuning.preparing import instance_hours
from smlocal.sagemaker.tuning.tuning_file import Definition, broken_request, definitions_of, jobs_at_most
from smlocal.service import submission
from smlocal.service.following import ENDED, Following, Viewer
from smlocal.service.service import Service
from smlocal.service.submit_checks import flags_for, refuse_other_image
from smlocal.service.submit_plan import SubmitOptions, SubmitPlan, plan_submit
from smlocal.service.uploads import Upload
from smlocal.terms.validation.violation import Path, spoken
from smlocal.terms.validation.walk import validate

NAME: Final = "HyperParameterTuningJobName"
STATUS: Final = "HyperParameterTuningJobStatus"
_PLACEHOLDER: Final = "s3://bucket/prefix"
_STATICS: Final = "StaticHyperParameters"
_PAUSE: Final = 2.0


def plan_tuning(
    document: Document,
    options: SubmitOptions,
    *,
    read: Callable[[int, int], None] = lambda _read, _total: None,
) -> SubmitPlan:
    """Validate as the service does, then read all local data. The document must have its name; it is changed.

    Each definition is planned as the training job that it would be.
    """
    _check(document)
    uploads: dict[str, Upload] = {}
    notes: list[str] = []
    for index, each in enumerate(definitions_of(request_in(document))):
        refuse_other_image(document, each.request, options.region, path=_image_of(each))
        scratch = os.path.join(options.scratch, str(index))
        os.makedirs(scratch, exist_ok=True)
        job = _training_job(document, each)
        plan = plan_submit(job, _with_scratch(options, scratch), read=read)
        for upload in plan.uploads:
            uploads.setdefault(upload.prefix, upload)  # definitions may share their data
        notes += plan.notes
        _take_over(document, each, plan.request)
    _check(document)
    return SubmitPlan(request=request_in(document), uploads=tuple(uploads.values()), notes=tuple(dict.fromkeys(notes)))


def _image_of(definition: Definition) -> Path:
    """Where its image is."""
    return (*definition.path, *TRAINING.reads.IMAGE)


def _with_scratch(options: SubmitOptions, scratch: str) -> SubmitOptions:
    return SubmitOptions(
        upload_to=options.upload_to,
        upload_sources=options.upload_sources,
        code_given=options.code_given,
        region=options.region,
        scratch=scratch,
    )


def _check(document: Document) -> None:
    """Refuse what the service refuses. Channels of this machine count as uploaded."""
    data = deepcopy({name: value for name, value in document.data.items() if name != LOCAL})
    for each in _given(data):
        for channel in each.get("InputDataConfig") or ():
            source = channel.get("DataSource") if isinstance(channel, dict) else None
            s3 = source.get("S3DataSource") if isinstance(source, dict) else None
            if isinstance(s3, dict) and isinstance(s3.get("S3Uri"), str) and not is_remote(s3["S3Uri"]):
                s3["S3Uri"] = _PLACEHOLDER
    copy = document.with_data(data)
    _, violations = validate(CreateHyperParameterTuningJobRequest, data, strict=True, written=copy.written)
    request = request_in(copy)
    if not violations:
        violations = broken_request(request)
    if violations:
        error = invalid_request(copy, violations)
        error.remedy = tuple(dict.fromkeys(flag for each in _given(request) for flag in flags_for(each)))
        raise error


def _given(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    several = data.get("TrainingJobDefinitions")
    for each in (data.get("TrainingJobDefinition"), *(several if isinstance(several, list) else ())):
        if isinstance(each, dict):
            yield each


def set_in_definitions(document: Document, path: Path, value: Any, *, fill_in: bool = False) -> None:
    """Set a member of each definition; with `fill_in` only where it is missing."""
    several = document.data.get("TrainingJobDefinitions")
    tops: list[Path] = [("TrainingJobDefinitions", index) for index in range(len(several or ()))]
    if isinstance(document.data.get("TrainingJobDefinition"), dict):
        tops.append(("TrainingJobDefinition",))
    for top in tops:
        if not (fill_in and document.has((*top, *path))):
            document.set((*top, *path), value)


def _training_job(document: Document, definition: Definition) -> Document:
    """A training job of this definition, with the local settings of the file."""
    data = {"TrainingJobName": str(document.data[NAME]), **deepcopy(definition.request)}
    local = document.data.get(LOCAL)
    found = Document({**data, **({LOCAL: local} if local else {})}, name=document.name, directory=document.directory)
    found.elsewhere = document.elsewhere
    return found


def _take_over(document: Document, definition: Definition, request: Mapping[str, Any]) -> None:
    """The places in S3, and the hyperparameter about the code."""
    given: Any = document.data
    for step in definition.path:
        given = given[step]
    statics = dict(request.get("HyperParameters") or {})
    if OBJECTIVE_KEY not in (given.get(_STATICS) or {}):
        statics.pop(OBJECTIVE_KEY, None)
    document.overrides = "--upload-to"
    if statics != (given.get(_STATICS) or {}):
        document.set((*definition.path, _STATICS), statics)
    if request.get("InputDataConfig") != given.get("InputDataConfig"):
        document.set((*definition.path, "InputDataConfig"), request["InputDataConfig"])


def guard_lines(request: Mapping[str, Any]) -> list[str]:
    """What the search may take."""
    limits = request["HyperParameterTuningJobConfig"]["ResourceLimits"]
    most = jobs_at_most(request)
    at_once = f"{limits['MaxParallelTrainingJobs']:,} at once"
    if most is None:
        return [f"training jobs: {at_once}; how many is chosen by the service"]
    definitions = definitions_of(request)
    hours = ", ".join(f"{hours:,g} h of {kind}" for kind, hours in instance_hours(definitions, most).items() if kind)
    lines = [f"may take: {most:,} training jobs, {at_once}; at most {hours or 'what the service chooses'}"]
    if any("MaxRuntimeInSeconds" not in (each.request.get("StoppingCondition") or {}) for each in definitions):
        lines.append("a definition has no MaxRuntimeInSeconds, so the service's default counts")
    if any(each.request.get("EnableManagedSpotTraining") is True for each in definitions):
        lines.append("on spot instances, which cost less")
    return lines


def about(request: Mapping[str, Any]) -> str:
    """The images and the number of training jobs, for the first line."""
    images = dict.fromkeys(_images(request))
    most = jobs_at_most(request)
    parallel = request["HyperParameterTuningJobConfig"]["ResourceLimits"]["MaxParallelTrainingJobs"]
    jobs = "training jobs" if most is None else f"{most:,} training jobs"
    return f"{', '.join(images) or 'no image'} · {jobs}, {parallel:,} at once"


def _images(request: Mapping[str, Any]) -> Iterator[str]:
    for each in definitions_of(request):
        image = (each.request.get("AlgorithmSpecification") or {}).get("TrainingImage")
        if image:
            yield image


def check_name(service: Service, name: str) -> None:
    """`NameInUseError` if the account has a tuning job of this name in this region."""
    try:
        found = describe(service, name)
    except ServiceJobUnknownError:
        return
    made = found["CreationTime"].astimezone(UTC)
    raise _in_use(name, f"It is {found[STATUS]}, and was made at {made:%Y-%m-%d %H:%M} UTC.")


def _in_use(name: str, detail: str) -> NameInUseError:
    return NameInUseError(
        f"A tuning job with the name '{name}' already exists on the service (ResourceInUse).",
        details=(detail,),
        remedy=("Give this one another name with --name; nothing was uploaded or started.",),
    )


def check_image(service: Service, request: Mapping[str, Any]) -> str | None:
    """`ImageNotInEcrError` for an image that Amazon ECR does not have; a sentence if that cannot be found out."""
    said = [
        submission.check_image(service, each.request, named_by=f"in {spoken(_image_of(each))}")
        for each in definitions_of(request)
    ]
    return next((each for each in said if each is not None), None)


def create(service: Service, request: Mapping[str, Any]) -> str:
    """Create the job; returns its ARN."""
    try:
        answer = service.call("sagemaker", "CreateHyperParameterTuningJob", **request)
    except ServiceRefusedError as error:
        if error.code == "ResourceInUse":
            detail = "It was made since this command began, maybe by an earlier try of it."
            raise _in_use(str(request[NAME]), detail) from error
        raise
    return str(answer["HyperParameterTuningJobArn"])


def describe(service: Service, name: str) -> dict[str, Any]:
    """The answer of DescribeHyperParameterTuningJob; `ServiceJobUnknownError` if there is no such job."""
    return service.call("sagemaker", "DescribeHyperParameterTuningJob", HyperParameterTuningJobName=name)


def stop(service: Service, name: str) -> None:
    """Ask the service to stop the job, and its training jobs."""
    try:
        service.call("sagemaker", "StopHyperParameterTuningJob", HyperParameterTuningJobName=name)
    except ServiceRefusedError:
        if describe(service, name)[STATUS] not in {*ENDED, "Stopping"}:
            raise  # otherwise it has ended by itself


class FollowedTuning(Following):
    """One tuning job; `follow` may be called again after it was interrupted."""

    def __init__(self, service: Service, name: str, viewer: Viewer, *, pause: float = _PAUSE) -> None:
        """`pause`: the seconds between two looks."""
        super().__init__(service, name, viewer, pause=pause)
        self._shown: set[str] = set()
        """Training jobs whose end was shown."""
        self._counted: Any = None
        self._list_refused = False

    def _look(self) -> dict[str, Any] | None:
        answer = describe(self._service, self._name)
        ended = answer[STATUS] in ENDED
        counted = (answer.get("TrainingJobStatusCounters"), answer.get("ObjectiveStatusCounters"))
        if counted != self._counted or ended:
            self._show_training_jobs()
            self._counted = counted
        if ended:
            return answer
        self._viewer.working(state_of(answer))
        return None

    def _show_training_jobs(self) -> None:
        """Show those that have ended since the last look."""
        if self._list_refused:
            return
        try:
            for page in self._service.pages(
                "sagemaker",
                "ListTrainingJobsForHyperParameterTuningJob",
                HyperParameterTuningJobName=self._name,
                SortBy="CreationTime",
                SortOrder="Ascending",
            ):
                for each in page["TrainingJobSummaries"]:
                    if each["TrainingJobStatus"] in ENDED and each["TrainingJobName"] not in self._shown:
                        self._shown.add(each["TrainingJobName"])
                        self._show(each)
        except ServiceForbiddenError as error:
            self._list_refused = True
            self._viewer.warning(f"training jobs cannot be shown: {error.sentence}")

    def _show(self, job: Mapping[str, Any]) -> None:
        if job["TrainingJobStatus"] == "Failed":
            self._viewer.warning(f"{job['TrainingJobName']} failed: {job.get('FailureReason') or 'no reason is known'}")
        else:
            self._viewer.progress(f"{job['TrainingJobName']}: {job['TrainingJobStatus']}, {result_of(job)}")


def result_of(job: Mapping[str, Any]) -> str:
    """`loss 0.25 with lr=0.1`, of a summary of a training job."""
    found = job.get("FinalHyperParameterTuningJobObjectiveMetric")
    tuned = " ".join(f"{name}={value}" for name, value in (job.get("TunedHyperParameters") or {}).items())
    value = f"{found['MetricName']} {found['Value']:.6g}" if found else "no value of the objective metric"
    return f"{value} with {tuned}" if tuned else value


def state_of(answer: Mapping[str, Any]) -> str:
    """The search in one line."""
    counts = answer.get("TrainingJobStatusCounters") or {}
    failed = counts.get("RetryableError", 0) + counts.get("NonRetryableError", 0)
    parts = [f"{answer[STATUS]}: {counts.get('Completed', 0)} completed", f"{counts.get('InProgress', 0)} running"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{counts['Stopped']} stopped"] if counts.get("Stopped") else []
    best = answer.get("BestTrainingJob")
    if best:
        parts.append(f"best {result_of(best)}")
    return ", ".join(parts)
