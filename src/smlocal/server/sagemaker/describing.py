"""DescribeTrainingJob."""

from typing import Any

from smlocal.errors import JobUnknownError
from smlocal.job.finish.describe import describe_job
from smlocal.platforms.sagemaker.name import NAME
from smlocal.server.call import Call, HasStore, ServiceError, validation_error
from smlocal.store.records import JobRecord


def describe_training_job(serving: HasStore, call: Call) -> dict[str, Any]:
    """Exactly the members of the service."""
    return describe_job(serving.store, called_job(serving, call).name, service=True)


def called_job(serving: HasStore, call: Call) -> JobRecord:
    """The job that the call names. Jobs of other platforms are not known to SageMaker."""
    try:
        record = serving.store.get(call.parameters["TrainingJobName"])
    except JobUnknownError:
        raise unknown_job() from None
    if record.platform != NAME:
        raise unknown_job()
    return record


def unknown_job() -> ServiceError:
    """What waiters of botocore take for an error."""
    return validation_error("Requested resource not found.")
