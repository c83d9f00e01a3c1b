"""The operations of SageMaker that are emulated."""

from collections.abc import Mapping
from typing import Any

from smlocal.api.removing import remove
from smlocal.errors import JobNotFinishedError, JobUnknownError
from smlocal.server.aws_calls import Handler
from smlocal.server.call import AwsCall, validation_error
from smlocal.server.sagemaker.creating import create_training_job
from smlocal.server.sagemaker.jobs import (
    add_tags,
    called_job,
    delete_tags,
    describe_training_job,
    list_tags,
    list_training_jobs,
    stop_training_job,
    unknown_job,
    update_training_job,
)
from smlocal.server.sagemaker.searching import search
from smlocal.server.serving import Serving


def delete_training_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Remove a job that has ended. Its artifacts stay."""
    name = called_job(serving, call).name
    try:
        remove(serving.store, name, stop=False, force=False, abandon=False, on_message=serving.log)
    except JobUnknownError:
        raise unknown_job() from None
    except JobNotFinishedError:
        status = serving.store.get(name).status
        raise validation_error(f"The request was rejected because the training job is in status {status}.") from None
    return {}


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
