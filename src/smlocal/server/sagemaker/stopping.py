"""StopTrainingJob."""

from typing import Any

from smlocal.api.stopping import stop
from smlocal.errors import JobFinishedError, JobUnknownError
from smlocal.server.call import Call, HasStore, validation_error
from smlocal.server.sagemaker.describing import called_job, unknown_job


def stop_training_job(serving: HasStore, call: Call) -> dict[str, Any]:
    """Answers once the stop is recorded."""
    try:
        stop(serving.store, called_job(serving, call).name, grace=None, on_message=lambda _: None)
    except JobUnknownError:
        raise unknown_job() from None
    except JobFinishedError as error:
        raise validation_error(error.sentence) from None
    return {}
