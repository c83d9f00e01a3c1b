"""The warm pool in the plan of a job: for which other jobs it is, and where its folder is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.sagemaker.conftest import FACTS

from smlocal.jobs.host.staging import mounts
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall_containers, remember
from smlocal.sagemaker.training.preparing import PREPARING

Planner = Callable[..., JobPlan]
RESOURCES = {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 10, "KeepAlivePeriodInSeconds": 60}
VPC = {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]}


def settings(plan: Planner, resources: dict[str, Any] | None = None, **changes: Any) -> str:
    made = plan({"VpcConfig": VPC, **changes, "ResourceConfig": {**RESOURCES, **(resources or {})}})
    assert made.warm_pool is not None
    return made.warm_pool.like


@pytest.mark.parametrize(
    "change",
    [
        {"RoleArn": "arn:aws:iam::123456789012:role/other"},
        {"resources": {"InstanceType": "ml.m5.xlarge"}},
        {"resources": {"InstanceCount": 1}},
        {"resources": {"VolumeSizeInGB": 20}},
        {"resources": {"VolumeKmsKeyId": "1234abcd-12ab-34cd-56ef-1234567890ab"}},
        {"VpcConfig": {**VPC, "Subnets": ["subnet-2"]}},
        {"VpcConfig": {**VPC, "SecurityGroupIds": ["sg-2"]}},
        {"VpcConfig": None},
        {"EnableInterContainerTrafficEncryption": True},
        {"EnableNetworkIsolation": True},
        {"SessionChainingConfig": {"EnableSessionTagChaining": True}},
    ],
)
def test_a_job_with_another_setting_does_not_match(plan: Planner, change: dict[str, Any]) -> None:
    assert settings(plan, **change) != settings(plan)


@pytest.mark.parametrize(
    "change",
    [
        {"resources": {"KeepAlivePeriodInSeconds": 3600}},
        {"HyperParameters": {"epochs": "2"}},
        {"Environment": {"A": "b"}},
        {"InputDataConfig": None},
        {"StoppingCondition": {"MaxRuntimeInSeconds": 61}},
        {"AlgorithmSpecification": {"TrainingImage": "other", "TrainingInputMode": "File"}},
        {"EnableNetworkIsolation": False},
        {"SessionChainingConfig": {"EnableSessionTagChaining": False}},
    ],
)
def test_other_members_do_not_matter(plan: Planner, change: dict[str, Any]) -> None:
    assert settings(plan, **change) == settings(plan)


@pytest.mark.parametrize("seconds", [None, 0])
def test_no_time_no_pool(plan: Planner, seconds: int | None) -> None:
    made = plan({"ResourceConfig": {**RESOURCES, "KeepAlivePeriodInSeconds": seconds}})
    assert made.warm_pool is None
    assert "warm-pool" not in {note.id for note in made.notes}


def cache_folders(made: JobPlan) -> list[str]:
    return [
        mount.source for host in made.hosts for mount in mounts(made, host) if mount.target.endswith("/warmpoolcache")
    ]


def test_each_host_has_a_folder_in_the_home_for_the_run_that_has_the_pool(plan: Planner) -> None:
    made = recall_containers(remember(plan({"ResourceConfig": RESOURCES})))
    where = [f"/home/warm-pools/job-1.0123abcd/algo-{number}" for number in (1, 2)]
    assert cache_folders(made) == where
    shown = [
        each
        for each in PREPARING.plan_document(made)["Hosts"][0]["Mounts"]
        if each["Target"].endswith("/warmpoolcache")
    ]
    assert [each["Source"] for each in shown] == where[:1]
    assert "kept for 60 s after the job" in "".join(text for _, text in PREPARING.plan_rows(made))
    assert [note.text for note in made.notes if note.id == "warm-pool"] == [
        "a warm pool has no instances here, so no job starts faster; its cache folder is kept for 60 s"
    ]


def test_an_engine_that_does_not_see_our_folders_and_mirrored_files_in_the_cache_keep_nothing(plan: Planner) -> None:
    remote = plan({"ResourceConfig": RESOURCES}, engine=replace(FACTS.engines.first, shares_folders=False))
    assert all("/" not in volume for volume in cache_folders(remote))
    tensors = {"S3OutputPath": "s3://bucket/t", "LocalPath": "/opt/ml/sagemaker/warmpoolcache/tensors"}
    inside = plan({"ResourceConfig": RESOURCES, "DebugHookConfig": tensors})
    assert cache_folders(inside) == [
        f"/home/jobs/job-1/hosts/algo-{number}/sagemaker/warmpoolcache" for number in (1, 2)
    ]
    for made in (remote, inside):
        assert made.warm_pool is not None
        assert made.warm_pool.directory == ""
        assert any(note.text.endswith("not even its cache folder is kept") for note in made.notes)
