"""Commands that take only CreateTrainingJob requests say so of another job."""

import pytest

from smlocal.api.job_source import override
from smlocal.errors import UsageRefusedError
from smlocal.jobfile.document import Document


def test_a_job_of_replicas_cannot_be_submitted_as_a_request() -> None:
    document = Document({"workerPoolSpecs": []}, name="job.yaml", directory="/")
    with pytest.raises(UsageRefusedError, match=r"job\.yaml is a job of AI Platform Training or a custom job"):
        override(document, {}, fill_in=False)
