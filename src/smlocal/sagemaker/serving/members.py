"""How each member of CreateModel, CreateEndpointConfig and CreateEndpoint is handled."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.sagemaker.serving.facts import MODELS
from smlocal.terms.member_table import MemberTable, Row, emulated, recorded, refused
from smlocal.terms.validation.violation import Path, Violation, spoken


def _container(name: str) -> dict[str, Row]:
    return {
        f"{name}.ContainerHostname": emulated("The container's host name, by which a request names it."),
        f"{name}.Image": emulated("The image to run."),
        f"{name}.ImageConfig": recorded("The engine of this machine pulls the image with its own settings."),
        f"{name}.Mode": emulated(
            "SingleModel: one model.", MultiModel="Multi-model endpoints are not run here; deploy one model."
        ),
        f"{name}.ModelDataUrl": emulated("Unpacked into /opt/ml/model."),
        f"{name}.ModelDataSource.S3DataSource.S3Uri": emulated("A path, or an s3:// URI, which Local.Sources may map."),
        f"{name}.ModelDataSource.S3DataSource.S3DataType": emulated("One object, or a folder."),
        f"{name}.ModelDataSource.S3DataSource.CompressionType": emulated("Gzip is unpacked; None is mounted."),
        f"{name}.ModelDataSource.S3DataSource.ModelAccessConfig": recorded("No license is asked for."),
        f"{name}.ModelDataSource.S3DataSource.HubAccessConfig": refused("No hub is asked for models."),
        f"{name}.ModelDataSource.S3DataSource.ManifestS3Uri": refused("Manifests of models are not read."),
        f"{name}.ModelDataSource.S3DataSource.ETag": recorded("The version of the object is not compared."),
        f"{name}.ModelDataSource.S3DataSource.ManifestEtag": recorded("The version is not compared."),
        f"{name}.AdditionalModelDataSources": emulated("Mounted at /opt/ml/additional-model-data-sources."),
        f"{name}.Environment": emulated("Variables of the container."),
        f"{name}.ModelPackageName": emulated("A model package of this machine: its image, model and variables."),
        f"{name}.InferenceSpecificationName": emulated("One of the additional specifications of the package."),
        f"{name}.MultiModelConfig": refused("Multi-model endpoints are not run here."),
        f"{name}.ContainerMetricsConfig": recorded("No metrics are published."),
    }


_SHADOW: Final = "Shadow variants are not run here."

TABLE: Final[Mapping[str, Row]] = {
    "ModelName": emulated("Variants name it."),
    **_container("PrimaryContainer"),
    **_container("Containers[]"),
    "InferenceExecutionConfig": emulated("Containers in a row, or each by its name."),
    "ExecutionRoleArn": recorded("Optional. Sets the account in the ARN, and is the role of Local.Credentials: role."),
    "Tags": recorded("Kept."),
    "VpcConfig": recorded("The container is on a network of this engine."),
    "EnableNetworkIsolation": emulated("The container reaches nothing."),
    "EndpointConfigName": recorded("Kept, and echoed."),
    "ProductionVariants[].VariantName": emulated("Names hosts and their logs."),
    "ProductionVariants[].ModelName": emulated("The model that it runs."),
    "ProductionVariants[].InitialInstanceCount": emulated(
        "At most Local.Serving.MaxInstances, each with its containers."
    ),
    "ProductionVariants[].InstanceType": emulated("Decides how many GPUs the container gets."),
    "ProductionVariants[].InstancePools": refused("No instance is chosen here; use InstanceType."),
    "ProductionVariants[].VariantInstanceProvisionTimeoutInSeconds": recorded("No instance is launched."),
    "ProductionVariants[].InitialVariantWeight": emulated("Its part of the invocations."),
    "ProductionVariants[].AcceleratorType": refused("Elastic Inference is not available here."),
    "ProductionVariants[].CoreDumpConfig": recorded("No core dumps are uploaded."),
    "ProductionVariants[].ServerlessConfig": refused("Serverless inference is not run here."),
    "ProductionVariants[].VolumeSizeInGB": recorded("The disk is that of this machine."),
    "ProductionVariants[].ModelDataDownloadTimeoutInSeconds": recorded("The model is on this machine."),
    "ProductionVariants[].ContainerStartupHealthCheckTimeoutInSeconds": emulated(
        "Until the first ping must be answered."
    ),
    "ProductionVariants[].EnableSSMAccess": recorded("Use smlocal shell."),
    "ProductionVariants[].ManagedInstanceScaling": refused("Auto scaling is not available here."),
    "ProductionVariants[].RoutingConfig": recorded("The instances get requests at random."),
    "ProductionVariants[].InferenceAmiVersion": recorded("The container runs on this machine."),
    "ProductionVariants[].CapacityReservationConfig": recorded("No capacity is reserved."),
    "ProductionVariants[].AcceleratorPartitionLayouts": refused("GPUs are not partitioned here."),
    "DataCaptureConfig": recorded("Nothing is captured."),
    "KmsKeyId": recorded("Nothing is encrypted here."),
    "AsyncInferenceConfig": refused("Asynchronous inference is not run here."),
    "ExplainerConfig": refused("Explainers are not run here."),
    "ShadowProductionVariants": refused(_SHADOW),
    "MetricsConfig": recorded("No metrics are published."),
    "CrossRegionTrafficConfig": recorded("There is one region."),
    "EndpointName": emulated("Names the endpoint. Default: the file name and the time."),
    "DeploymentConfig": recorded("An endpoint is deployed once."),
}


MEMBERS: Final = MemberTable(rows=TABLE)


def refused_members(request: Mapping[str, Any]) -> list[tuple[str, Violation]]:
    """The refused members of a request and of the models in its list, with path and reason."""
    found = MEMBERS.refused(request)
    for index, model in enumerate(_listed_models(request)):
        for name, each in MEMBERS.refused(model):
            at: Path = (MODELS, index)
            found.append((name, Violation(path=(*at, *each.path), text=f"{spoken(at)}.{each.text}")))
    return found


def recorded_members(request: Mapping[str, Any]) -> set[str]:
    """The members of a request and of the models in its list that have no effect, as far as they have one name."""
    parts = (request, *_listed_models(request))
    return {name for part in parts for name in MEMBERS.recorded(part) if name in part}


def _listed_models(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    models = request.get(MODELS)
    return [each for each in models if isinstance(each, Mapping)] if isinstance(models, list) else []
