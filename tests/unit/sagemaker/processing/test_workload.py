"""What a processing job needs."""

import json
from pathlib import Path

import pytest

from smlocal.jobfile.document import Document
from smlocal.jobs.looking import data_facts
from smlocal.sagemaker.processing.job_file import read_processing
from smlocal.sagemaker.processing.workload import workload_of


@pytest.mark.parametrize(
    ("uris", "publishes"),
    [
        ([], False),
        (["./out"], False),
        (["s3://mapped/a"], False),
        (["./out", "s3://bucket/a"], True),
        (["https://s3.us-east-1.amazonaws.com/bucket/a"], True),
    ],
    ids=json.dumps,
)
def test_only_outputs_in_s3_are_published(tmp_path: Path, uris: list[str], publishes: bool) -> None:
    """Without one, no AWS credentials are asked for."""
    outputs = [
        {"OutputName": f"o{number}", "S3Output": {"S3Uri": uri, "LocalPath": f"/opt/ml/processing/o{number}"}}
        for number, uri in enumerate(uris)
    ]
    data = {
        "AppSpecification": {"ImageUri": "an-image"},
        "ProcessingOutputConfig": {"Outputs": outputs},
        "Local": {"Publish": True, "Output": "./other", "Sources": {"s3://mapped": "./folder"}},
    }
    job = read_processing(Document(data, name="job.yaml", directory=str(tmp_path)), strict=False)
    assert data_facts(workload_of(job), "us-east-1", strict=False).publishes is publishes
