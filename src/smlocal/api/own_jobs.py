"""Whether a description is that of a job of this machine."""

import os
from collections.abc import Mapping
from typing import Any


def recorded_request(name: str, *, arn: str) -> Mapping[str, Any] | None:
    """The request, as it was given, of the job here with this name and ARN; None if there is none."""
    from smlocal.errors import JobUnknownError
    from smlocal.job.documents import JOB
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    if not name or not arn or not os.path.isdir(home := home_directory()):
        return None
    with Store.open(home) as store:
        try:
            record = store.get(name)
        except JobUnknownError:
            return None
        if record.arn != arn:
            return None
        data: Mapping[str, Any] = store.document(name, JOB)["Data"]
    return data


def own_answer(name: str, *, arn: str) -> Mapping[str, Any] | None:
    """What describe says of the job here with this name and ARN; None if there is none."""
    if recorded_request(name, arn=arn) is None:
        return None
    from smlocal.api.training_job import TrainingJob

    return TrainingJob(name).describe()
