from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.jobfile.document import Document
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts, MachineFacts
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.aspects.network.plan import NetworkFacts
from smlocal.jobs.planning.aspects.output.plan import OutputFacts
from smlocal.jobs.planning.aspects.rules.plan import RuleFacts
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.plan import build_plan
from smlocal.sagemaker.workload import workload_of
from smlocal.terms.listing import Listing

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
    engines=EnginesFacts(
        first=EngineFacts(
            address="unix:///var/run/docker.sock",
            local=True,
            shares_folders=True,
            version="20.10.24",
            architecture="amd64",
            operating_system="linux",
            storage_driver="",
        ),
        machine=MachineFacts(cpus=16, memory_mib=64_000),
    ),
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
    inputs=InputFacts(listings={"train": LISTING}),
    output=OutputFacts(folder="/results"),
    region="us-east-1",
    account="000000000000",
    run_id="0123abcd",
    job_directory="/home/jobs/job-1",
    network=NetworkFacts(subnet="198.18.7.0/24", gateway="172.17.0.1"),
    rules=RuleFacts(built_in=("LossNotDecreasing", "VanishingGradient"), recorded=("CreateXgboostReport",)),
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
PLACES: dict[str, tuple[str, str]] = {
    "engine": ("engines", "first"),
    **{name: ("engines", name) for name in ("machine", "shares", "manager")},
    **{name: ("inputs", name) for name in ("listings", "file_systems", "code", "sources", "only_s3", "no_fuse")},
    "checkpoints": ("mirrored", "checkpoints"),
    "collectors": ("mirrored", "folders"),
    **{name: ("network", name) for name in ("subnet", "gateway", "loopback_only")},
    "output": ("output", "folder"),
    "output_free": ("output", "free"),
    "rule_paths": ("rules", "paths"),
}
"""Facts that tests change one by one, and the records that have them."""


def changed(facts: Facts, **changes: Any) -> Facts:
    """The facts with some of them changed, wherever they are."""
    for name, value in changes.items():
        if name in PLACES:
            record, member = PLACES[name]
            within = replace(getattr(facts, record), **{member: value})
            facts = replace(facts, **{record: within})
        else:
            facts = replace(facts, **{name: value})
    return facts


def job(changes: Mapping[str, Any], local: Mapping[str, Any]) -> JobFile:
    data = {**deepcopy(REQUEST), **changes}
    data = {name: value for name, value in data.items() if value is not None}
    if local:
        data["Local"] = dict(local)
    return read_job(Document(data, name="job.yaml", directory="/work"), strict=False)


def planned(asked: JobFile, facts: Facts, *, name: str = "job-1") -> JobPlan:
    return build_plan(asked, workload_of(asked), facts, name=name)


@pytest.fixture
def plan() -> Planner:
    """Plan the usual job with some members, settings or facts changed; a member of None is left out."""

    def make(changes: Mapping[str, Any] | None = None, local: Mapping[str, Any] | None = None, **facts: Any) -> JobPlan:
        return planned(job(changes or {}, local or {}), changed(FACTS, **facts))

    return make


@pytest.fixture
def listing() -> Listing:
    return LISTING


@pytest.fixture
def facts() -> Facts:
    return FACTS
