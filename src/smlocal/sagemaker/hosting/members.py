"""How each member of CreateModel, CreateEndpointConfig and CreateEndpoint is handled.

A row is about a member and everything below it that has no row of its own.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.contract.support import Support
from smlocal.jobs.contract.validation.violation import Path, Violation, spoken


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One member."""

    support: Support
    note: str
    refused: Mapping[str, str]
    """Values that are refused, and why."""


def _emulated(note: str, **refused: str) -> Row:
    return Row(support=Support.EMULATED, note=note, refused=refused)


def _recorded(note: str, **refused: str) -> Row:
    return Row(support=Support.RECORDED, note=note, refused=refused)


def _refused(note: str) -> Row:
    return Row(support=Support.REFUSED, note=note, refused={})


def _container(name: str) -> dict[str, Row]:
    return {
        f"{name}.ContainerHostname": _emulated("The container's host name."),
        f"{name}.Image": _emulated("The image to run."),
        f"{name}.ImageConfig": _recorded("The engine of this machine pulls the image with its own settings."),
        f"{name}.Mode": _emulated(
            "SingleModel: one model.", MultiModel="multi-model endpoints are not run here; deploy one model"
        ),
        f"{name}.ModelDataUrl": _emulated("Unpacked into /opt/ml/model."),
        f"{name}.ModelDataSource.S3DataSource.S3Uri": _emulated("A path, or an s3:// URI that Local.Sources maps."),
        f"{name}.ModelDataSource.S3DataSource.S3DataType": _emulated("One object, or a folder."),
        f"{name}.ModelDataSource.S3DataSource.CompressionType": _emulated("Gzip is unpacked; None is mounted."),
        f"{name}.ModelDataSource.S3DataSource.ModelAccessConfig": _recorded("No license is asked for."),
        f"{name}.ModelDataSource.S3DataSource.HubAccessConfig": _refused("no hub is asked for models"),
        f"{name}.ModelDataSource.S3DataSource.ManifestS3Uri": _refused("manifests of models are not read"),
        f"{name}.ModelDataSource.S3DataSource.ETag": _recorded("The version of the object is not compared."),
        f"{name}.ModelDataSource.S3DataSource.ManifestEtag": _recorded("The version is not compared."),
        f"{name}.AdditionalModelDataSources": _refused("a container has one model here"),
        f"{name}.Environment": _emulated("Variables of the container."),
        f"{name}.ModelPackageName": _refused("model packages are in an AWS account; give Image and ModelDataUrl"),
        f"{name}.InferenceSpecificationName": _refused("it belongs to a model package"),
        f"{name}.MultiModelConfig": _refused("multi-model endpoints are not run here"),
        f"{name}.ContainerMetricsConfig": _recorded("No metrics are published."),
    }


_PIPELINE: Final = "inference pipelines are not run here; deploy one container"
_SHADOW: Final = "shadow variants are not run here"

TABLE: Final[Mapping[str, Row]] = {
    "ModelName": _recorded("Kept, and echoed."),
    **_container("PrimaryContainer"),
    **_container("Containers[]"),
    "InferenceExecutionConfig": _recorded("One container is invoked the same way in both modes."),
    "ExecutionRoleArn": _recorded("Optional. Sets the account in the ARN, and is the role of Local.Credentials: role."),
    "Tags": _recorded("Kept."),
    "VpcConfig": _recorded("The container is on a network of this engine."),
    "EnableNetworkIsolation": _emulated("The container reaches nothing."),
    "EndpointConfigName": _recorded("Kept, and echoed."),
    "ProductionVariants[].VariantName": _emulated("Names the host and its log."),
    "ProductionVariants[].ModelName": _recorded("The model is that of this file."),
    "ProductionVariants[].InitialInstanceCount": _recorded("One container serves, whatever the number."),
    "ProductionVariants[].InstanceType": _emulated("Decides how many GPUs the container gets."),
    "ProductionVariants[].InstancePools": _refused("no instance is chosen here; use InstanceType"),
    "ProductionVariants[].VariantInstanceProvisionTimeoutInSeconds": _recorded("No instance is launched."),
    "ProductionVariants[].InitialVariantWeight": _recorded("The only variant gets all invocations."),
    "ProductionVariants[].AcceleratorType": _refused("Elastic Inference is not available here"),
    "ProductionVariants[].CoreDumpConfig": _recorded("No core dumps are uploaded."),
    "ProductionVariants[].ServerlessConfig": _refused("serverless inference is not run here"),
    "ProductionVariants[].VolumeSizeInGB": _recorded("The disk is that of this machine."),
    "ProductionVariants[].ModelDataDownloadTimeoutInSeconds": _recorded("The model is on this machine."),
    "ProductionVariants[].ContainerStartupHealthCheckTimeoutInSeconds": _emulated(
        "Until the first ping must be answered."
    ),
    "ProductionVariants[].EnableSSMAccess": _recorded("Use smlocal shell."),
    "ProductionVariants[].ManagedInstanceScaling": _refused("auto scaling is not available here"),
    "ProductionVariants[].RoutingConfig": _recorded("There is one container to route to."),
    "ProductionVariants[].InferenceAmiVersion": _recorded("The container runs on this machine."),
    "ProductionVariants[].CapacityReservationConfig": _recorded("No capacity is reserved."),
    "ProductionVariants[].AcceleratorPartitionLayouts": _refused("GPUs are not partitioned here"),
    "DataCaptureConfig": _recorded("Nothing is captured."),
    "KmsKeyId": _recorded("Nothing is encrypted here."),
    "AsyncInferenceConfig": _refused("asynchronous inference is not run here"),
    "ExplainerConfig": _refused("explainers are not run here"),
    "ShadowProductionVariants": _refused(_SHADOW),
    "MetricsConfig": _recorded("No metrics are published."),
    "CrossRegionTrafficConfig": _recorded("There is one region."),
    "EndpointName": _emulated("Names the endpoint. Default: the file name and the time."),
    "DeploymentConfig": _recorded("An endpoint is deployed once."),
}


def row_of(name: str) -> str | None:
    """The row of a member, which may be about one that contains it; None if there is none."""
    while name and name not in TABLE:
        shorter = name.removesuffix("[]")
        name = shorter if shorter != name else name.rpartition(".")[0]
    return name or None


def refused(request: Mapping[str, Any]) -> list[tuple[str, Violation]]:
    """The refused members of a request, with path and reason."""
    found = [*_refused_below(request, "", ())]
    for member, most, why in (("Containers", 1, _PIPELINE), ("ProductionVariants", 1, "one variant is run here")):
        if isinstance(request.get(member), list) and len(request[member]) > most:
            path: Path = (member, most)
            found.append((member, Violation(path=path, text=f"{spoken(path)} is refused: {why}")))
    return found


def _refused_below(value: Any, name: str, path: Path) -> Iterator[tuple[str, Violation]]:
    row = TABLE.get(name)
    if row is not None:
        if row.support is Support.REFUSED:
            yield name, Violation(path=path, text=f"{spoken(path)} is refused: {row.note}")
        elif isinstance(value, str) and value in row.refused:
            yield name, Violation(path=path, text=f"{spoken(path)}: {value} is refused: {row.refused[value]}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _refused_below(item, f"{name}.{key}" if name else key, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _refused_below(item, f"{name}[]", (*path, index))
