"""Read a CreateProcessingJob request with local settings: valid, or one error with all mistakes."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import FieldRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import invalid_request, mistake_lines
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.contract.model.processing import (
    CreateProcessingJobRequest,
    ProcessingInput,
    ProcessingOutput,
)
from smlocal.sagemaker.jobfile.job_file import read_local, without_nulls
from smlocal.sagemaker.jobfile.local_paths import refuse_local_paths
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.members import MEMBERS
from smlocal.terms.checkpoints import within
from smlocal.terms.validation.violation import Path, Violation, spoken
from smlocal.terms.validation.walk import missing, validate

WITHOUT_USE: Final = {
    "Code": "processing jobs have no /opt/ml/code; give the code as an input",
    "MergeOutput": "processing jobs have no output.tar.gz",
    "Rules": "processing jobs have no debugger rules",
    "OnRule": "processing jobs have no debugger rules",
    "ResourceConfigKeys": "resourceconfig.json of a processing job has two keys",
    "NetworkInterface": "resourceconfig.json of a processing job names no interface",
}
"""Settings that mean nothing here, and why."""
_REQUIRED: Final = ("ProcessingJobName", "ProcessingResources", "RoleArn")
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


def read_named(
    document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
) -> tuple[ProcessingFile, str]:
    """The validated job, and its name; `stem` is that of its file."""
    if name is not None:
        document.set(("ProcessingJobName",), name)
    job = read_processing(document, strict=strict, local_allowed=local_allowed)
    return job, job.request.ProcessingJobName or default_name(stem, datetime.now().astimezone())


def read_processing(document: Document, *, strict: bool, local_allowed: bool = True) -> ProcessingFile:
    """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""
    if document.elsewhere is not None:
        refuse_local_paths(document, CreateProcessingJobRequest)
    request, raw, violations = validated(document, strict=strict)
    local, in_local = local_of(document, request, raw, allowed=local_allowed)
    violations += in_local
    not_done = MEMBERS.refused(raw)
    if violations or request is None or local is None:
        raise invalid_request(document, violations + [each for _, each in not_done])
    inputs, outputs = inputs_of(request), outputs_of(request)
    not_done += _overlapping(inputs, outputs)
    if not_done:
        names = list(dict.fromkeys(name for name, _ in not_done))
        raise FieldRefusedError(
            f"{document.name} uses what smlocal does not support: {', '.join(names)}",
            details=mistake_lines(document, [each for _, each in not_done]),
            remedy=["Change it to run the job here."],
        )
    return ProcessingFile(request=request, local=local, inputs=inputs, outputs=outputs, raw=raw, document=document)


def validated(
    document: Document, *, strict: bool
) -> tuple[CreateProcessingJobRequest | None, dict[str, Any], list[Violation]]:
    """The request, also as it was given without nulls, and what the service would refuse."""
    asked = {name: value for name, value in document.data.items() if name != LOCAL}
    request, violations = validate(CreateProcessingJobRequest, asked, strict=strict, written=document.written)
    if strict:
        violations += [missing((name,)) for name in _REQUIRED if asked.get(name) is None]
    if request is not None:
        violations += [
            *_broken_rules(request),
            *_equal_paths(inputs_of(request)),
            *(_missing(request) if strict else ()),
        ]
    raw: dict[str, Any] = without_nulls(asked)
    return request, raw, violations


def local_of(
    document: Document, request: CreateProcessingJobRequest | None, raw: Mapping[str, Any], *, allowed: bool = True
) -> tuple[LocalSettings | None, list[Violation]]:
    """The `Local` block, or the mistakes in it."""
    local, violations = read_local(document, _as_training(request, raw), allowed=allowed)
    return local, violations + ([] if local is None else [*_without_use(local)])


def inputs_of(request: CreateProcessingJobRequest) -> tuple[Input, ...]:
    """Those that the platform delivers."""
    given = request.ProcessingInputs or []
    names = facts.plain_names((each.InputName for each in given), "input")
    return tuple(
        Input(
            name=name,
            index=index,
            uri=source.S3Uri,
            path=_normal(source.LocalPath or ""),
            data_type=source.S3DataType or "S3Prefix",
            pipe=source.S3InputMode == "Pipe",
            gzip=source.S3CompressionType == "Gzip",
            sharded=source.S3DataDistributionType == "ShardedByS3Key",
        )
        for index, (each, name) in enumerate(zip(given, names, strict=True))
        if (source := each.S3Input) is not None and each.AppManaged is not True
    )


def outputs_of(request: CreateProcessingJobRequest) -> tuple[UploadedOutput, ...]:
    """Those that the platform uploads."""
    config = request.ProcessingOutputConfig
    given = [] if config is None else config.Outputs
    names = facts.plain_names((each.OutputName for each in given), "output")
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
        return
    inner: Path = (*path, "S3Input")
    if given.AppManaged is not True:
        yield from _wrong_path(source.LocalPath, inner)
    if source.S3CompressionType == "Gzip" and source.S3InputMode != "Pipe":
        yield _says((*inner, "S3CompressionType"), "Gzip is for Pipe mode only")


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
            at: Path = ("ProcessingInputs", each.index, "S3Input", "LocalPath")
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


def _as_training(request: CreateProcessingJobRequest | None, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a training job that the rules of `Local` look at."""
    resources = raw.get("ProcessingResources")
    cluster = resources.get("ClusterConfig") if isinstance(resources, Mapping) else None
    count = cluster.get("InstanceCount") if isinstance(cluster, Mapping) else None
    pipes = [] if request is None else [each for each in inputs_of(request) if each.pipe]
    return {
        "ResourceConfig": {
            "InstanceType": "local",
            "InstanceCount": count if isinstance(count, int) else 1,
            "VolumeSizeInGB": facts.VOLUME_GB,
        },
        "InputDataConfig": [{"InputMode": "Pipe"} for _ in pipes],
        "StoppingCondition": raw.get("StoppingCondition"),
    }


def _without_use(local: LocalSettings) -> Iterator[Violation]:
    default = LocalSettings()
    for name, why in WITHOUT_USE.items():
        if getattr(local, name) != getattr(default, name):
            yield Violation(path=(LOCAL, name), text=f"Local.{name}: {why}; remove it")
