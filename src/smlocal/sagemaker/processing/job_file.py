"""Read a CreateProcessingJob request with local settings: valid, or one error with all mistakes."""

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import Any, ClassVar, Final, cast

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import SetData
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.documents.config_files import host_names
from smlocal.sagemaker.contract.identity import plain_names
from smlocal.sagemaker.contract.model.processing import (
    CreateProcessingJobRequest,
    DatasetDefinition,
    ProcessingInput,
    ProcessingOutput,
)
from smlocal.sagemaker.contract.requested import MAX_PLANNED_HOSTS
from smlocal.sagemaker.jobfile.request_reading import NO_ERROR_CODE, SharedReading, ValidRequest, WhatRuns
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.data_options import DATA_OPTIONS
from smlocal.sagemaker.processing.members import DATASET, MEMBERS
from smlocal.terms.checkpoints import within
from smlocal.terms.validation.violation import Path, Violation, spoken
from smlocal.terms.validation.walk import missing

_CLUSTER: Final = ("ProcessingResources", "ClusterConfig")
_DATASET: Final = "DatasetDefinition"
_MANAGED: Final = "is missing: the service needs it, unless AppManaged is true"


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """An input that the platform delivers."""

    name: str
    """A name that a file can have."""
    index: int
    """Its place in the request."""
    uri: str
    path: str
    """The folder in the container, normalized."""
    member: Path = ("S3Input",)
    """What describes it in its part of the request."""
    query: str = ""
    """Whose query would write it: `Athena` or `Redshift`; empty for objects of S3."""
    data_type: str
    pipe: bool
    gzip: bool
    sharded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class UploadedOutput:
    """An output that the platform uploads."""

    name: str
    """A name that a file can have."""
    index: int
    uri: str
    path: str
    """The folder in the container, normalized."""
    continuous: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessingFile:
    """A valid request."""

    request: CreateProcessingJobRequest
    local: LocalSettings
    inputs: tuple[Input, ...]
    outputs: tuple[UploadedOutput, ...]
    raw: dict[str, Any] = field(repr=False)
    """The request as it was given, without `Local` and without members that are null."""
    document: Document = field(repr=False)

    @property
    def image(self) -> str:
        """As in the request."""
        return self.request.AppSpecification.ImageUri

    @property
    def isolated(self) -> bool:
        """True without a network."""
        network = self.request.NetworkConfig
        return network is not None and network.EnableNetworkIsolation is True

    @property
    def instances(self) -> tuple[str, int]:
        """The type and the number of hosts."""
        resources = self.request.ProcessingResources
        cluster = None if resources is None else resources.ClusterConfig
        if cluster is None:
            return "local", 1
        if cluster.InstanceType is None and cluster.InstancePreferences:
            first = cluster.InstancePreferences[0]
            return first.InstanceType, first.InstanceCount or cluster.InstanceCount or 1
        return cluster.InstanceType or "local", cluster.InstanceCount or 1

    @property
    def volume_gb(self) -> int:
        """The size of the volume on the service."""
        resources = self.request.ProcessingResources
        cluster = None if resources is None else resources.ClusterConfig
        return (cluster.VolumeSizeInGB if cluster is not None else None) or facts.VOLUME_GB

    @property
    def max_runtime(self) -> int:
        """Seconds."""
        condition = self.request.StoppingCondition
        return facts.MAX_RUNTIME if condition is None else condition.MaxRuntimeInSeconds


class ProcessingReading(SharedReading):
    """Its rules need the inputs and outputs of a request whose members are valid."""

    SHAPE = CreateProcessingJobRequest
    TABLE = MEMBERS
    NAME = "ProcessingJobName"
    REQUIRED = ("ProcessingJobName", "ProcessingResources", "RoleArn")
    REFUSED: ClassVar[Mapping[str, str]] = {
        **NO_ERROR_CODE,
        "Code": "processing jobs have no /opt/ml/code; give the code as an input",
        "MergeOutput": "processing jobs have no output.tar.gz",
        "Rules": "processing jobs have no debugger rules",
        "OnRule": "processing jobs have no debugger rules",
        "ResourceConfigKeys": "resourceconfig.json of a processing job has two keys",
        "NetworkInterface": "resourceconfig.json of a processing job names no interface",
    }
    PLACES: ClassVar[Mapping[str, Path]] = {
        "name": ("ProcessingJobName",),
        "image": ("AppSpecification", "ImageUri"),
        "entrypoint": ("AppSpecification", "ContainerEntrypoint"),
        "instance_type": (*_CLUSTER, "InstanceType"),
        "instance_count": (*_CLUSTER, "InstanceCount"),
        "environment": ("Environment",),
        "max_run": ("StoppingCondition", "MaxRuntimeInSeconds"),
        "role": ("RoleArn",),
        "members": (),
        "channels": ("ProcessingInputs",),
        "inputs": ("ProcessingInputs",),
        "processing_outputs": ("ProcessingOutputConfig", "Outputs"),
    }
    DATA: ClassVar[Mapping[str, SetData]] = DATA_OPTIONS
    ONLY_ANSWERED = frozenset(
        {
            "ProcessingJobStatus",
            "ExitMessage",
            "FailureReason",
            "ProcessingStartTime",
            "ProcessingEndTime",
            "CreationTime",
            "LastModifiedTime",
            "MonitoringScheduleArn",
            "AutoMLJobArn",
            "TrainingJobArn",
            "ResponseMetadata",
        }
    )
    IMAGE = ("AppSpecification", "ImageUri")

    def made(self, valid: ValidRequest) -> ProcessingFile:
        """With the inputs and outputs that the platform moves."""
        return ProcessingFile(
            request=valid.request,
            local=valid.local,
            inputs=inputs_of(valid.request),
            outputs=outputs_of(valid.request),
            raw=valid.raw,
            document=valid.document,
        )

    def broken_rules(
        self, request: CreateProcessingJobRequest | None, raw: Mapping[str, Any], *, strict: bool
    ) -> Iterator[Violation]:
        """What members say together."""
        del raw
        if request is not None:
            yield from _broken_rules(request)
            yield from _equal_paths(inputs_of(request))
            yield from _missing(request) if strict else ()

    def refused_members(
        self, request: CreateProcessingJobRequest | None, raw: Mapping[str, Any], sources: Collection[str] = ()
    ) -> list[tuple[str, Violation]]:
        """Also outputs that this machine cannot upload, and results of queries for which it has no folder."""
        overlapping = [] if request is None else _overlapping(inputs_of(request), outputs_of(request))
        return [*super().refused_members(request, raw, sources), *_without_result(raw, sources), *overlapping]

    def what_runs(
        self, local: LocalSettings, request: CreateProcessingJobRequest | None, raw: Mapping[str, Any]
    ) -> WhatRuns:
        """By the cluster as it was given: a member may be wrong."""
        del local
        resources, condition = raw.get("ProcessingResources"), raw.get("StoppingCondition")
        cluster = resources.get("ClusterConfig") if isinstance(resources, Mapping) else None
        given = cluster if isinstance(cluster, Mapping) else {}
        preferred = given.get("InstancePreferences")
        asked = [given, *(preferred if isinstance(preferred, list) else ())]
        count, kinds = (
            given.get("InstanceCount"),
            [each.get("InstanceType") for each in asked if isinstance(each, Mapping)],
        )
        number = count if isinstance(count, int) and count > 0 else 1
        most = condition.get("MaxRuntimeInSeconds") if isinstance(condition, Mapping) else None
        return WhatRuns(
            hosts=None if number > MAX_PLANNED_HOSTS else host_names(number),
            types=tuple(each for each in kinds if isinstance(each, str)),
            peers=number > 1,
            pipes=request is not None and any(each.pipe for each in inputs_of(request)),
            max_runtime=most if isinstance(most, int) and most > 0 else facts.MAX_RUNTIME,
        )


READING: Final = ProcessingReading()


def read_processing(document: Document, *, strict: bool, local_allowed: bool = True) -> ProcessingFile:
    """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""
    return cast("ProcessingFile", READING.read(document, strict=strict, local_allowed=local_allowed))


def inputs_of(request: CreateProcessingJobRequest) -> tuple[Input, ...]:
    """Those that the platform delivers."""
    given = request.ProcessingInputs or []
    names = plain_names((each.InputName for each in given), "input")
    return tuple(
        found
        for index, (each, name) in enumerate(zip(given, names, strict=True))
        if each.AppManaged is not True and (found := _input(each, index, name)) is not None
    )


def _input(given: ProcessingInput, index: int, name: str) -> Input | None:
    source = given.S3Input
    if source is None:
        return _result(given.DatasetDefinition, index, name)
    return Input(
        name=name,
        index=index,
        uri=source.S3Uri,
        path=_normal(source.LocalPath or ""),
        data_type=source.S3DataType or "S3Prefix",
        pipe=source.S3InputMode == "Pipe",
        gzip=source.S3CompressionType == "Gzip",
        sharded=source.S3DataDistributionType == "ShardedByS3Key",
    )


def _result(definition: DatasetDefinition | None, index: int, name: str) -> Input | None:
    """The objects that a query writes on the service; here, somebody has written them."""
    query = None if definition is None else definition.AthenaDatasetDefinition or definition.RedshiftDatasetDefinition
    if definition is None or query is None:
        return None
    word = "Athena" if query is definition.AthenaDatasetDefinition else "Redshift"
    return Input(
        name=name,
        index=index,
        uri=query.OutputS3Uri,
        path=_normal(definition.LocalPath or ""),
        member=(_DATASET, f"{word}{_DATASET}"),
        query=word,
        data_type="S3Prefix",
        pipe=definition.InputMode == "Pipe",
        gzip=False,
        sharded=definition.DataDistributionType == "ShardedByS3Key",
    )


def outputs_of(request: CreateProcessingJobRequest) -> tuple[UploadedOutput, ...]:
    """Those that the platform uploads."""
    config = request.ProcessingOutputConfig
    given = [] if config is None else config.Outputs
    names = plain_names((each.OutputName for each in given), "output")
    return tuple(
        UploadedOutput(
            name=name,
            index=index,
            uri=target.S3Uri,
            path=_normal(target.LocalPath or ""),
            continuous=target.S3UploadMode == "Continuous",
        )
        for index, (each, name) in enumerate(zip(given, names, strict=True))
        if (target := each.S3Output) is not None and each.AppManaged is not True
    )


def _normal(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/")


def _broken_rules(request: CreateProcessingJobRequest) -> Iterator[Violation]:
    """What members say together."""
    for index, given in enumerate(request.ProcessingInputs or ()):
        yield from _wrong_input(given, ("ProcessingInputs", index))
    config = request.ProcessingOutputConfig
    for index, output in enumerate([] if config is None else config.Outputs):
        yield from _wrong_output(output, ("ProcessingOutputConfig", "Outputs", index))


def _missing(request: CreateProcessingJobRequest) -> Iterator[Violation]:
    """Members that the service requires, and smlocal does not."""
    resources = request.ProcessingResources
    cluster = None if resources is None else resources.ClusterConfig
    if resources is not None and cluster is None:
        yield missing(("ProcessingResources", "ClusterConfig"))
    if cluster is not None and cluster.VolumeSizeInGB is None:
        yield missing(("ProcessingResources", "ClusterConfig", "VolumeSizeInGB"))
    for index, given in enumerate(request.ProcessingInputs or ()):
        if given.S3Input is not None and given.S3Input.S3DataType is None:
            yield missing(("ProcessingInputs", index, "S3Input", "S3DataType"))
    config = request.ProcessingOutputConfig
    for index, output in enumerate([] if config is None else config.Outputs):
        if output.S3Output is not None and output.S3Output.S3UploadMode is None:
            yield missing(("ProcessingOutputConfig", "Outputs", index, "S3Output", "S3UploadMode"))


def _wrong_input(given: ProcessingInput, path: Path) -> Iterator[Violation]:
    source = given.S3Input
    if (source is None) == (given.DatasetDefinition is None):
        yield _says(path, "needs exactly one of S3Input and DatasetDefinition")
    if source is None:
        yield from _wrong_dataset(given, (*path, _DATASET))
        return
    inner: Path = (*path, "S3Input")
    if given.AppManaged is not True:
        yield from _wrong_path(source.LocalPath, inner)
    if source.S3CompressionType == "Gzip" and source.S3InputMode != "Pipe":
        yield _says((*inner, "S3CompressionType"), "Gzip is for Pipe mode only")


def _wrong_dataset(given: ProcessingInput, path: Path) -> Iterator[Violation]:
    definition = given.DatasetDefinition
    if definition is None:
        return
    if (definition.AthenaDatasetDefinition is None) == (definition.RedshiftDatasetDefinition is None):
        yield _says(path, "needs exactly one of AthenaDatasetDefinition and RedshiftDatasetDefinition")
    if given.AppManaged is not True:
        yield from _wrong_path(definition.LocalPath, path)


def _without_result(raw: Mapping[str, Any], sources: Collection[str]) -> Iterator[tuple[str, Violation]]:
    """Results of queries that `Local.Sources` does not name. An entry of a whole bucket is not about them."""
    named = {each.rstrip("/") for each in sources}
    given = raw.get("ProcessingInputs")
    for index, each in enumerate(given if isinstance(given, list) else ()):
        definition = each.get(_DATASET) if isinstance(each, Mapping) else None
        if not isinstance(definition, Mapping) or each.get("AppManaged") is True:
            continue
        for word in ("Athena", "Redshift"):
            query = definition.get(f"{word}{_DATASET}")
            uri = query.get("OutputS3Uri") if isinstance(query, Mapping) else None
            if isinstance(uri, str) and uri.rstrip("/") not in named:
                at: Path = ("ProcessingInputs", index, _DATASET)
                text = (
                    f"{spoken(at)} needs a folder with what the query would write, because no {word} query is run "
                    f"here: --source {uri}=DIR, or Local.Sources"
                )
                yield DATASET, Violation(path=at, text=text)


def _wrong_output(given: ProcessingOutput, path: Path) -> Iterator[Violation]:
    target = given.S3Output
    if (target is None) == (given.FeatureStoreOutput is None):
        yield _says(path, "needs exactly one of S3Output and FeatureStoreOutput")
    if target is not None and given.AppManaged is not True:
        yield from _wrong_path(target.LocalPath, (*path, "S3Output"))


def _wrong_path(given: str | None, path: Path) -> Iterator[Violation]:
    at: Path = (*path, "LocalPath")
    if given is None:
        yield _says(at, _MANAGED)
    elif not given.startswith("/") or "\0" in given or not _below(_normal(given), facts.PROCESSING):
        yield _says(at, f"'{given}' must be a folder below {facts.PROCESSING}/")


def _below(path: str, folder: str) -> bool:
    return path != folder and within(path, folder)


def _equal_paths(inputs: tuple[Input, ...]) -> Iterator[Violation]:
    for number, each in enumerate(inputs):
        if any(other.path == each.path for other in inputs[:number]):
            at: Path = ("ProcessingInputs", each.index, each.member[0], "LocalPath")
            yield _says(at, f"another input is at {each.path} already")


def _overlapping(inputs: tuple[Input, ...], outputs: tuple[UploadedOutput, ...]) -> Iterator[tuple[str, Violation]]:
    """An output with an input in it, which the service would upload too. Here the two are separate mounts."""
    for output in outputs:
        inner = next((each for each in inputs if within(each.path, output.path)), None)
        if inner is not None:
            at: Path = ("ProcessingOutputConfig", "Outputs", output.index, "S3Output", "LocalPath")
            text = f"{spoken(at)}: {output.path} is refused: an input is at {inner.path}, and would have to be uploaded"
            yield "ProcessingOutputConfig.Outputs[].S3Output.LocalPath", Violation(path=at, text=text)


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")
