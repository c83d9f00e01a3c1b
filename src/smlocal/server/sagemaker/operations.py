"""The operations of SageMaker that are emulated."""

from collections.abc import Mapping

from smlocal.server.operations import Handler
from smlocal.server.sagemaker.creating import create_training_job
from smlocal.server.sagemaker.deleting import delete_training_job
from smlocal.server.sagemaker.describing import describe_training_job
from smlocal.server.sagemaker.listing import list_training_jobs
from smlocal.server.sagemaker.searching import search
from smlocal.server.sagemaker.stopping import stop_training_job
from smlocal.server.sagemaker.tags import add_tags, delete_tags, list_tags
from smlocal.server.sagemaker.updating import update_training_job

HANDLERS: Mapping[str, Handler] = {
    "AddTags": add_tags,
    "CreateTrainingJob": create_training_job,
    "DeleteTags": delete_tags,
    "DeleteTrainingJob": delete_training_job,
    "DescribeTrainingJob": describe_training_job,
    "ListTags": list_tags,
    "ListTrainingJobs": list_training_jobs,
    "Search": search,
    "StopTrainingJob": stop_training_job,
    "UpdateTrainingJob": update_training_job,
}
