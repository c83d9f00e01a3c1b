"""DescribeTrainingJob."""

from typing import Any

from smlocal.errors import JobUnknownError
from smlocal.job.finish.describe import describe_job
from smlocal.server.call import Call, HasStore, ServiceError, validation_error


def describe_training_job(serving: HasStore, call: Call) -> dict[str, Any]:
    """Exactly the members of the service."""
    try:
        return describe_job(serving.store, call.parameters["TrainingJobName"], service=True)
    except JobUnknownError:
        raise unknown_job() from None


def unknown_job() -> ServiceError:
    """What waiters of botocore take for an error."""
    return validation_error("Requested resource not found.")
