"""The training job that needs the same of this machine as a processing job: planning starts from it.

So data is listed and brought, engines are chosen, and GPUs, limits and networks are given as to any job.
"""

from typing import Final

from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.model.request import (
    AlgorithmSpecification,
    Channel,
    CreateTrainingJobRequest,
    DataSource,
    OutputDataConfig,
    ResourceConfig,
    S3DataSource,
    StoppingCondition,
    VpcConfig,
)
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.processing.job_file import Input, ProcessingFile
from smlocal.sagemaker.processing.outputs import publishes
from smlocal.terms.validation.violation import Path

_ELSEWHERE: Final = "s3://smlocal"
"""Where no artifact goes: a processing job has none."""
_PLACES: Final[dict[Path, Path]] = {
    ("ResourceConfig",): ("ProcessingResources", "ClusterConfig"),
    ("AlgorithmSpecification", "TrainingImage"): ("AppSpecification", "ImageUri"),
}


class _Document(Document):
    """The document of a processing job, asked by the places of a training job."""

    def __init__(self, document: Document, inputs: tuple[Input, ...]) -> None:
        super().__init__(document.data, name=document.name, directory=document.directory)
        self.overrides, self.elsewhere, self.ran_before = document.overrides, document.elsewhere, document.ran_before
        self.empty_source_fails = True  # the service creates such a job, and its download fails
        self._document, self._inputs = document, inputs

    def line(self, path: Path) -> int | None:
        """The line of the member that stands for it."""
        return self._document.line(self._own(path))

    def where(self, path: Path) -> str:
        """The place of the member that stands for it."""
        return self._document.where(self._own(path))

    def _own(self, path: Path) -> Path:
        if path[:1] == ("InputDataConfig",) and len(path) > 1 and isinstance(path[1], int):
            inner: Path = ("S3Input", "S3Uri") if path[-1:] == ("S3Uri",) else ()
            return ("ProcessingInputs", self._inputs[path[1]].index, *inner)
        for place, own in _PLACES.items():
            if path[: len(place)] == place:
                return (*own, *path[len(place) :])
        return path


def equal_training_job(job: ProcessingFile) -> JobFile:
    """Its channels are the inputs, by their plain names."""
    kind, count = job.instances
    network = job.request.NetworkConfig
    vpc = None if network is None else network.VpcConfig
    published = next((each.uri for each in job.outputs if each.uri.startswith(("s3://", "https://"))), _ELSEWHERE)
    # A processing job may have an instance type that no training job has.
    resources = ResourceConfig(InstanceType=kind, InstanceCount=count, VolumeSizeInGB=job.volume_gb)  # type: ignore[arg-type]
    request = CreateTrainingJobRequest(
        AlgorithmSpecification=AlgorithmSpecification(TrainingImage=job.image, TrainingInputMode="File"),
        InputDataConfig=[_channel(each) for each in job.inputs],
        OutputDataConfig=OutputDataConfig(S3OutputPath=published),
        ResourceConfig=resources,
        StoppingCondition=StoppingCondition(MaxRuntimeInSeconds=job.max_runtime),
        Environment=job.request.Environment,
        EnableNetworkIsolation=job.isolated,
        VpcConfig=None if vpc is None else VpcConfig(SecurityGroupIds=vpc.SecurityGroupIds, Subnets=vpc.Subnets),
        RoleArn=job.request.RoleArn,
    )
    local = LocalSettings(**{**vars(job.local), "Publish": publishes(job)})
    return JobFile(request=request, local=local, raw={}, document=_Document(job.document, job.inputs))


def _channel(each: Input) -> Channel:
    return Channel(
        ChannelName=each.name,
        InputMode="Pipe" if each.pipe else "File",
        CompressionType="Gzip" if each.gzip else "None",
        DataSource=DataSource(
            S3DataSource=S3DataSource(
                S3Uri=each.uri,
                S3DataType="ManifestFile" if each.data_type == "ManifestFile" else "S3Prefix",
                S3DataDistributionType="ShardedByS3Key" if each.sharded else "FullyReplicated",
            )
        ),
    )
