"""Pieces of job files in the pages are taken as they stand, in a job file that has what they leave out."""

from typing import Any

import pytest
import yaml
from tests.kit.doc_blocks import EXAMPLE_PAGES, PAGES, Block, blocks

from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import read_job

PIECES = [
    pytest.param(block, id=f"{name}:{block.line}")
    for name, page in {**PAGES, **EXAMPLE_PAGES}.items()
    for block in blocks(page)
    if block.is_piece
]
REST: dict[str, Any] = {
    "AlgorithmSpecification": {"TrainingImage": "my-image", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "s3://my-bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}


@pytest.mark.parametrize("block", PIECES)
def test_a_piece_of_a_job_file(block: Block) -> None:
    piece = yaml.safe_load(block.text)
    rest = {name: value for name, value in REST.items() if name not in piece}
    if "InstanceGroups" in piece.get("ResourceConfig", {}):
        piece["ResourceConfig"]["VolumeSizeInGB"] = 10
    read_job(Document({**rest, **piece}, name="job.yaml", directory="/work"), strict=False)
