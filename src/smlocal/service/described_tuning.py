"""A tuning job of the service: the request in its description, and the file of that."""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from smlocal.api.recorded_job import recorded_request
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ServiceForbiddenError, UsageRefusedError
from smlocal.jobfile.document import Document, Elsewhere
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.jobs.contract.made_names import without_tuning_time
from smlocal.jobs.contract.model.structure import members
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.sagemaker.jobfile.local_paths import local_locations, refuse_local_paths
from smlocal.sagemaker.tuning.facts import OBJECTIVE_KEY
from smlocal.sagemaker.tuning.tuning_file import default_name
from smlocal.service.described_job import known_members
from smlocal.service.service import Service

_ARN: Final = "HyperParameterTuningJobArn"
_NAME: Final = "HyperParameterTuningJobName"
_TUNED_RESOURCES: Final = "HyperParameterTuningResourceConfig"
_ANSWER_ONLY: Final = frozenset(
    {
        _ARN,
        "HyperParameterTuningJobStatus",
        "CreationTime",
        "HyperParameterTuningEndTime",
        "LastModifiedTime",
        "TrainingJobStatusCounters",
        "ObjectiveStatusCounters",
        "BestTrainingJob",
        "OverallBestTrainingJob",
        "FailureReason",
        "TuningJobCompletionDetails",
        "ConsumedResources",
        "ResponseMetadata",
    }
)
_PATTERN: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):\d{12}:hyper-parameter-tuning-job/(?P<name>.+)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedTuning:
    """A tuning job."""

    request: dict[str, Any]
    """The CreateHyperParameterTuningJob request, in the service's order."""
    local: Mapping[str, Any]
    """The `Local` block of a request of the user's own; empty for an answer."""
    answer: Mapping[str, Any] | None
    """The answer of DescribeHyperParameterTuningJob; None for a request."""
    newer: Mapping[str, Any]
    """Path to value of members that this version does not know."""

    @property
    def name(self) -> str:
        """Empty if the request has none."""
        return str(self.request.get(_NAME) or "")

    @property
    def arn(self) -> str:
        """Empty for a request."""
        return str((self.answer or {}).get(_ARN) or "")

    @property
    def region(self) -> str:
        """Where the job ran; empty for a request."""
        found = _PATTERN.fullmatch(self.arn)
        return found["region"] if found is not None else ""

    @property
    def state(self) -> str:
        """Its status and region, as a remark has them."""
        status = str((self.answer or {}).get("HyperParameterTuningJobStatus") or "")
        return ", ".join(filter(None, (status, self.region)))


def is_answer(data: Mapping[str, Any]) -> bool:
    """True for an answer of DescribeHyperParameterTuningJob."""
    return _ARN in data and "HyperParameterTuningJobConfig" in data


def described_tuning(data: Mapping[str, Any]) -> DescribedTuning:
    """The job in an answer or a request."""
    ours = members(CreateHyperParameterTuningJobRequest)
    taken = {each: data[each] for each in ours if data.get(each) is not None}
    answer = data if is_answer(data) else None
    local = data.get(LOCAL)
    if answer is not None:
        if isinstance(local, Mapping) and isinstance(local.get("Request"), Mapping):
            for each, value in local["Request"].items():  # of our own answer: what the service does not return
                taken.setdefault(each, value)
        _remove_additions(taken)
    ignored = {LOCAL, *(_ANSWER_ONLY if answer is not None else ())}
    newer = {each: value for each, value in data.items() if each not in ours and each not in ignored}
    return DescribedTuning(
        request=known_members(CreateHyperParameterTuningJobRequest, taken, (), newer),
        local=local if answer is None and isinstance(local, Mapping) else {},
        answer=answer,
        newer=newer,
    )


def _remove_additions(taken: dict[str, Any]) -> None:
    """Take away what the service adds to each definition."""
    config = taken.get("HyperParameterTuningJobConfig")
    common = config.get("HyperParameterTuningJobObjective") if isinstance(config, Mapping) else None
    one, several = taken.get("TrainingJobDefinition"), taken.get("TrainingJobDefinitions")
    if isinstance(one, Mapping):
        taken["TrainingJobDefinition"] = _as_requested(one, common)
    if isinstance(several, list):
        taken["TrainingJobDefinitions"] = [
            _as_requested(each, common) if isinstance(each, Mapping) else each for each in several
        ]


def _as_requested(definition: Mapping[str, Any], common: Any) -> dict[str, Any]:
    """Without the name of the objective metric, unless a client has written it in another form."""
    found = dict(definition)
    statics, objective = found.get("StaticHyperParameters"), found.get("TuningObjective") or common
    metric = objective.get("MetricName") if isinstance(objective, Mapping) else None
    if isinstance(statics, Mapping) and metric is not None and statics.get(OBJECTIVE_KEY) == metric:
        found["StaticHyperParameters"] = {name: each for name, each in statics.items() if name != OBJECTIVE_KEY}
        if not found["StaticHyperParameters"]:
            del found["StaticHyperParameters"]
    if found.get(_TUNED_RESOURCES):
        found.pop("ResourceConfig", None)
    return found


def fetch_tuning(arn: str, *, profile: str | None, region: str | None) -> tuple[DescribedTuning, list[str]]:
    """A job of the service by its ARN, and remarks."""
    found = _PATTERN.fullmatch(arn)
    if found is None:
        raise UsageRefusedError(f"{arn!r} is not the ARN of a tuning job")
    service = Service(profile=profile, region=region or found["region"])
    notes = []
    tags = []
    try:
        answer = service.call("sagemaker", "DescribeHyperParameterTuningJob", HyperParameterTuningJobName=found["name"])
        try:
            tags = service.tags(answer[_ARN])
        except ServiceForbiddenError as error:
            notes.append(f"Tags are not known: the AWS credentials may not do {error.action}.")
    finally:
        service.close()
    return described_tuning({**answer, **({"Tags": tags} if tags else {})}), notes


def use_request(document: Document, *, allow_local_paths: bool) -> DescribedTuning:
    """Replace the answer in a document by its request, with a new name and the region of the ARN."""
    job = described_tuning(document.data)
    document.elsewhere = _elsewhere(job, allow_local_paths=allow_local_paths)
    document.data = {
        **job.request,
        **({_NAME: default_name(without_tuning_time(job.name), datetime.now().astimezone())} if job.name else {}),
        **({LOCAL: {"Region": job.region}} if job.region else {}),
    }
    return job


def check_local_paths(job: DescribedTuning, *, name: str, allow_local_paths: bool) -> None:
    """`PathInDescriptionError` for an answer with paths that it may not name. `name`: of the file."""
    document = Document(job.request, name=name, directory=os.getcwd())
    document.elsewhere = _elsewhere(job, allow_local_paths=allow_local_paths)
    refuse_local_paths(document, CreateHyperParameterTuningJobRequest)


def _elsewhere(job: DescribedTuning, *, allow_local_paths: bool) -> Elsewhere | None:
    """As that of a training job: only paths are allowed that the job here of this name and ARN was given."""
    if job.answer is None:
        return None
    recorded = recorded_request(job.name, arn=job.arn)
    if recorded is None:
        return Elsewhere()
    known = local_locations(recorded, CreateHyperParameterTuningJobRequest) if allow_local_paths else ()
    return Elsewhere(own_job=job.name, allowed=frozenset(known))


def remarks(job: DescribedTuning) -> Iterator[str]:
    """Sentences about what a run here would need."""
    if job.newer:
        yield f"not known to this version of smlocal, and kept as comments: {', '.join(job.newer)}"
    parents = (job.request.get("WarmStartConfig") or {}).get("ParentHyperParameterTuningJobs") or ()
    names = [str(each.get(_NAME)) for each in parents if isinstance(each, Mapping)]
    if names:
        yield f"it starts from tuning jobs that have to be on this machine: {', '.join(names)} (WarmStartConfig)"


def tuning_file_text(job: DescribedTuning, *, file: str) -> str:
    """A tuning file that `smlocal run` takes."""
    return "".join(f"{line}\n" for line in _lines(job, file))


def _lines(job: DescribedTuning, file: str) -> Iterator[str]:
    yield f"# A CreateHyperParameterTuningJob request. Run it here:  smlocal run {one_line(file)}"
    if job.answer is not None:
        yield f"# As the tuning job {one_line(job.name)} ({one_line(job.state)})."
    yield ""
    if job.name:
        yield f"# {yaml_text({_NAME: job.name}).splitlines()[0]}"
        yield f"# Without {_NAME}, the name is made from this file's name and the time."
    yield from yaml_text({each: value for each, value in job.request.items() if each != _NAME}).splitlines()
    settings = {**({"Region": job.region} if job.region else {}), **job.local}
    if settings:
        yield from yaml_text({LOCAL: settings}).splitlines()
    if job.newer:
        yield "# This version of smlocal does not know these members, and would refuse them:"
        yield from (f"#   {line}" for line in yaml_text(dict(job.newer)).splitlines())
