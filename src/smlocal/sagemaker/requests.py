"""The requests of SageMaker that files hold: how their members are handled, and the schemas of the files."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.contract.member_table import MemberTable
from smlocal.jobs.contract.model.structure import Structure
from smlocal.sagemaker.contract.coverage.members import MEMBERS as OF_TRAINING
from smlocal.sagemaker.contract.model.hosting import CreateEndpointConfigInput, CreateEndpointInput, CreateModelInput
from smlocal.sagemaker.contract.model.processing import CreateProcessingJobRequest
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.contract.model.transform import CreateTransformJobRequest
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.sagemaker.hosting.members import MEMBERS as OF_HOSTING
from smlocal.sagemaker.hosting.schema import model_file_schema
from smlocal.sagemaker.jobfile.schema import job_file_schema
from smlocal.sagemaker.processing.members import MEMBERS as OF_PROCESSING
from smlocal.sagemaker.processing.schema import processing_file_schema
from smlocal.sagemaker.transform.members import OF_THE_JOB as OF_TRANSFORM
from smlocal.sagemaker.transform.schema import transform_file_schema
from smlocal.sagemaker.tuning.members import MEMBERS as OF_TUNING
from smlocal.sagemaker.tuning.schema import tuning_file_schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One of them."""

    shape: type[Structure]
    table: MemberTable
    """Its members; of a file that holds several requests, those of all."""
    schema: Callable[[], dict[str, Any]]
    """The JSON Schema of the file that holds it."""

    @property
    def members(self) -> MemberTable:
        """Only its own members."""
        return self.table.of(self.shape)


REQUESTS: Final[Mapping[str, Request]] = {
    "CreateTrainingJob": Request(shape=CreateTrainingJobRequest, table=OF_TRAINING, schema=job_file_schema),
    "CreateModel": Request(shape=CreateModelInput, table=OF_HOSTING, schema=model_file_schema),
    "CreateEndpointConfig": Request(shape=CreateEndpointConfigInput, table=OF_HOSTING, schema=model_file_schema),
    "CreateEndpoint": Request(shape=CreateEndpointInput, table=OF_HOSTING, schema=model_file_schema),
    "CreateProcessingJob": Request(
        shape=CreateProcessingJobRequest, table=OF_PROCESSING, schema=processing_file_schema
    ),
    "CreateTransformJob": Request(shape=CreateTransformJobRequest, table=OF_TRANSFORM, schema=transform_file_schema),
    "CreateHyperParameterTuningJob": Request(
        shape=CreateHyperParameterTuningJobRequest, table=OF_TUNING, schema=tuning_file_schema
    ),
}
