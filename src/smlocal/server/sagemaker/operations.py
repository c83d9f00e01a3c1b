"""The operations of SageMaker that are emulated: one function each, grouped in modules."""

from collections.abc import Mapping

from smlocal.server.operations import Handler
from smlocal.server.sagemaker.describing import describe_training_job
from smlocal.server.sagemaker.stopping import stop_training_job

HANDLERS: Mapping[str, Handler] = {
    "DescribeTrainingJob": describe_training_job,
    "StopTrainingJob": stop_training_job,
}
