"""The job file of a training job: a request with local settings, or one error with all mistakes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import Option
from smlocal.jobfile.settings import OPTIONS, LocalSettings
from smlocal.sagemaker.contract.coverage.members import MEMBERS
from smlocal.sagemaker.contract.documents.config_files import host_names
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest, ResourceConfig
from smlocal.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.sagemaker.contract.requested import MAX_PLANNED_HOSTS, host_count, with_selected
from smlocal.sagemaker.contract.validation.rules import broken_rules
from smlocal.sagemaker.jobfile import request_reading
from smlocal.sagemaker.jobfile.request_reading import NO_ERROR_CODE, SharedReading, ValidRequest, WhatRuns
from smlocal.terms.validation.violation import Path, Violation
from smlocal.terms.validation.walk import validate

if TYPE_CHECKING:
    from smlocal.sagemaker.jobfile.skeleton import or_skeleton
else:
    or_skeleton = at_use("smlocal.sagemaker.jobfile.skeleton", "or_skeleton")


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFile:
    """A valid job file."""

    request: CreateTrainingJobRequest
    local: LocalSettings
    raw: dict[str, Any] = field(repr=False)
    """The request as it was given, without `Local` and without members that are null."""
    document: Document = field(repr=False)


class TrainingReading(SharedReading):
    """Every option is about such a job, but for the data of processing jobs."""

    SHAPE = CreateTrainingJobRequest
    TABLE = MEMBERS
    NAME = "TrainingJobName"
    REFUSED: ClassVar[Mapping[str, str]] = NO_ERROR_CODE
    PLACES: ClassVar[Mapping[str, Path]] = {
        name: each.place
        for name, each in OPTIONS.items()
        if name not in {"inputs", "processing_outputs"} and (each.place or name == "members")
    }
    OUTPUT = ("OutputDataConfig", "S3OutputPath")
    IMAGE = ("AlgorithmSpecification", "TrainingImage")

    def made(self, valid: ValidRequest) -> JobFile:
        """The instances that a request prefers are chosen."""
        request: CreateTrainingJobRequest = valid.request
        if request.ResourceConfig is not None and request.ResourceConfig.InstancePreferences:
            resources = with_selected(request.ResourceConfig, [fault.plain() for fault in valid.local.Faults])
            request = CreateTrainingJobRequest(**{**vars(request), "ResourceConfig": resources})
        return JobFile(request=request, local=valid.local, raw=valid.raw, document=valid.document)

    def broken_rules(self, request: Any, raw: dict[str, Any], *, strict: bool) -> Iterable[Violation]:
        """They are looked for beside mistakes of single members."""
        del request
        return broken_rules(raw, strict=strict)

    def what_runs(self, local: LocalSettings, request: Any, raw: Mapping[str, Any]) -> WhatRuns:
        """By the request as it was given."""
        del request
        return what_runs(raw, local)

    def explained(self, document: Document, raw: dict[str, Any], invalid: RequestInvalidError) -> RequestInvalidError:
        """In a skeleton of the AWS CLI, each empty member is wrong."""
        return or_skeleton(document, raw, invalid)

    def instead(self, data: Mapping[str, Any], refused: Iterable[tuple[Option, str]]) -> list[str]:
        """The data of a training job is given in another way."""
        del data, refused
        return ["Leave it out. The data of a training job: --channel NAME=PATH."]


READING: Final = TrainingReading()


def read_job(document: Document, *, strict: bool, local_allowed: bool = True) -> JobFile:
    """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""
    return cast("JobFile", READING.read(document, strict=strict, local_allowed=local_allowed))


def unsupported_request(document: Document, found: list[tuple[str, Violation]]) -> FieldRefusedError:
    """One error for everything that is refused."""
    return request_reading.unsupported_request(document, found, table=MEMBERS)


def what_runs(request: Mapping[str, Any], local: LocalSettings) -> WhatRuns:
    """What faults and a placement are compared with, of a request that need not be valid."""
    condition = request.get("StoppingCondition")
    given = condition.get("MaxRuntimeInSeconds") if isinstance(condition, Mapping) else None
    return WhatRuns(
        hosts=_hosts(request, local),
        types=tuple(_types(request)),
        peers=_has_peers(request),
        pipes=_has_pipes(request),
        spot=request.get("EnableManagedSpotTraining") is True,
        max_runtime=given if isinstance(given, int) and given > 0 else DEFAULT_MAX_RUNTIME,
    )


def _hosts(request: Mapping[str, Any], local: LocalSettings) -> list[str] | None:
    """The names of the hosts; None if the hosts themselves are wrong."""
    resources, _ = validate(ResourceConfig, request.get("ResourceConfig"), strict=False)
    if resources is None:
        return None
    count = host_count(with_selected(resources, [fault.plain() for fault in local.Faults]))
    return None if count > MAX_PLANNED_HOSTS else host_names(count)


def _types(request: Mapping[str, Any]) -> Iterator[str]:
    resources = request.get("ResourceConfig")
    if not isinstance(resources, Mapping):
        return
    lists = [resources.get(name) for name in ("InstancePreferences", "InstanceGroups")]
    items = [item for each in lists if isinstance(each, list) for item in each]
    asked = [item.get("InstanceType") for item in (resources, *items) if isinstance(item, Mapping)]
    yield from (each for each in asked if isinstance(each, str))


def _has_peers(request: Mapping[str, Any]) -> bool:
    resources = request.get("ResourceConfig")
    if not isinstance(resources, Mapping):
        return False
    count = resources.get("InstanceCount")
    return bool(resources.get("InstanceGroups")) or (isinstance(count, int) and count > 1)


def _has_pipes(request: Mapping[str, Any]) -> bool:
    specification = request.get("AlgorithmSpecification")
    general = specification.get("TrainingInputMode") if isinstance(specification, Mapping) else None
    channels = request.get("InputDataConfig")
    return any(
        (channel.get("InputMode") or general) == "Pipe"
        for channel in (channels if isinstance(channels, list) else ())
        if isinstance(channel, Mapping)
    )
