from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from smlocal.contract.listing import Listing
from smlocal.jobfile.document import Document
from smlocal.planning.facts import EngineFacts, Facts, ImageFacts, MachineFacts
from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.platforms.sagemaker.planning.build import build_plan

LISTING = Listing(
    root="/data/train",
    bucket_uri="s3://bucket/",
    prefix="train/",
    key_base="train/",
    paths=("a.csv", "b/c.csv"),
    total_bytes=12,
    whole_tree=True,
)
FACTS = Facts(
    engine=EngineFacts(
        address="unix:///var/run/docker.sock",
        local=True,
        shares_folders=True,
        version="20.10.24",
        architecture="amd64",
        operating_system="linux",
        storage_driver="",
    ),
    machine=MachineFacts(cpus=16, memory_mib=64_000),
    image=ImageFacts(
        id="sha256:1",
        architecture="amd64",
        operating_system="linux",
        size=1000,
        entrypoint=None,
        command=None,
        user="",
        working_directory="",
    ),
    listings={"train": LISTING},
    code=None,
    output="/results",
    region="us-east-1",
    account="000000000000",
    run_id="0123abcd",
    job_directory="/home/jobs/job-1",
    subnet="198.18.7.0/24",
    gateway="172.17.0.1",
    built_in_rules=("LossNotDecreasing", "VanishingGradient"),
    recorded_rules=("CreateXgboostReport",),
)
REQUEST: dict[str, Any] = {
    "TrainingJobName": "job-1",
    "RoleArn": "arn:aws:iam::123456789012:role/trainer",
    "AlgorithmSpecification": {"TrainingImage": "held-tree:latest", "TrainingInputMode": "File"},
    "InputDataConfig": [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/train/"}},
        }
    ],
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
}

Planner = Callable[..., JobPlan]


def job(changes: Mapping[str, Any], local: Mapping[str, Any]) -> JobFile:
    data = {**deepcopy(REQUEST), **changes}
    data = {name: value for name, value in data.items() if value is not None}
    if local:
        data["Local"] = dict(local)
    return read_job(Document(data, name="job.yaml", directory="/work"), strict=False)


@pytest.fixture
def plan() -> Planner:
    """Plan the usual job with some members, settings or facts changed; a member of None is left out."""

    def make(changes: Mapping[str, Any] | None = None, local: Mapping[str, Any] | None = None, **facts: Any) -> JobPlan:
        return build_plan(job(changes or {}, local or {}), replace(FACTS, **facts), name="job-1")

    return make


@pytest.fixture
def listing() -> Listing:
    return LISTING


@pytest.fixture
def facts() -> Facts:
    return FACTS
