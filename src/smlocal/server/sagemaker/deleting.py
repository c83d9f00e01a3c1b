"""DeleteTrainingJob."""

from typing import Any

from smlocal.api.removing import remove
from smlocal.errors import JobNotFinishedError, JobUnknownError
from smlocal.server.call import Call, validation_error
from smlocal.server.sagemaker.describing import called_job, unknown_job
from smlocal.server.serving import Serving


def delete_training_job(serving: Serving, call: Call) -> dict[str, Any]:
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
