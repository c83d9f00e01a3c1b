from typing import Any

import pytest

from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.replicas import Replica, replicas
from smlocal.ai_platform.validation.rules import read_request

Json = dict[str, Any]


def _replicas(data: Json, job: str = "census") -> tuple[Replica, ...]:
    reading = read_request(data, strict=False)
    assert (reading.violations, reading.refused) == ([], [])
    return replicas(reading.kind, reading.request, job=job)


def test_replicas_of_a_training_job(training_job: Json) -> None:
    found = _replicas(training_job)
    assert [each.name for each in found] == ["master 0", "worker 0", "worker 1", "ps 0", "evaluator 0"]
    assert [each.is_primary for each in found] == [True, False, False, False, False]
    assert [each.image.rpartition("/")[2] for each in found] == ["train"] * 4 + ["evaluate"]
    assert {each.arguments for each in found} == {("--epochs", "3", "--job-dir=gs://bucket/census")}
    assert {each.entrypoint for each in found} == {None}
    assert found[1].machine.name == "n1-highmem-8"
    assert found[2].host_name.startswith("cmle-training-worker-")
    assert found[2].address == f"{found[2].host_name}:2222"


def test_replicas_of_a_custom_job(custom_job: Json) -> None:
    found = _replicas(custom_job)
    assert [each.name for each in found] == ["workerpool0-0", "workerpool1-0", "workerpool1-1", "workerpool3-0"]
    assert [each.is_primary for each in found] == [True, False, False, False]
    assert [each.arguments for each in found] == [None, ("--epochs", "3"), ("--epochs", "3"), None]
    assert found[0].variables == (("RATE", "0.1"),)


def test_host_names_are_the_jobs_own_and_always_the_same(custom_job: Json) -> None:
    names = [each.host_name for each in _replicas(custom_job)]
    assert names == [each.host_name for each in _replicas(custom_job)]
    assert len({*names, *(each.host_name for each in _replicas(custom_job, "other"))}) == 8
    assert all(len(name) <= 63 for name in names)


@pytest.mark.parametrize(
    ("tier", "machines"),
    [
        ("BASIC", {"master 0": "n1-standard-4"}),
        ("BASIC_GPU", {"master 0": "n1-standard-8"}),
        ("STANDARD_1", {"master 0": "n1-highcpu-8", "worker 3": "n1-highcpu-8", "ps 2": "n1-standard-4"}),
        ("PREMIUM_1", {"master 0": "n1-highcpu-16", "worker 18": "n1-highcpu-16", "ps 10": "n1-highmem-8"}),
    ],
)
def test_scale_tiers(tier: str, machines: dict[str, str]) -> None:
    found = {
        each.name: each
        for each in _replicas({"trainingInput": {"scaleTier": tier, "masterConfig": {"imageUri": "image"}}})
    }
    assert {name: found[name].machine.name for name in machines} == machines
    assert len(found) == {"BASIC": 1, "BASIC_GPU": 1, "STANDARD_1": 8, "PREMIUM_1": 31}[tier]
    assert found["master 0"].accelerators == (1 if tier == "BASIC_GPU" else 0)


@pytest.mark.parametrize(
    ("container", "entrypoint", "arguments"),
    [
        ({}, None, None),
        ({"args": []}, None, None),
        ({"args": ["a"]}, None, ("a",)),
        ({"command": ["run"]}, ("run",), ()),
        ({"command": ["run"], "args": ["a"]}, ("run",), ("a",)),
    ],
)
def test_command_and_arguments_replace_those_of_the_image(
    custom_job: Json, container: Json, entrypoint: Any, arguments: Any
) -> None:
    custom_job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"] |= container
    assert (_replicas(custom_job)[0].entrypoint, _replicas(custom_job)[0].arguments) == (entrypoint, arguments)


def test_a_command_of_a_training_job_gets_the_job_dir_too() -> None:
    config = {"imageUri": "image", "containerCommand": ["run"]}
    (master,) = _replicas({"trainingInput": {"masterConfig": config, "jobDir": "gs://b/d"}})
    assert (master.entrypoint, master.arguments) == (("run",), ("--job-dir=gs://b/d",))


def test_accelerators_are_those_of_the_request_or_of_the_machine(custom_job: Json) -> None:
    spec = custom_job["jobSpec"]["workerPoolSpecs"]
    spec[0]["machineSpec"] |= {"acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 2}
    spec[1]["machineSpec"] = {"machineType": "a2-highgpu-4g"}
    found = _replicas(custom_job)
    assert [(each.accelerators, each.accelerator) for each in found[:2]] == [
        (2, "NVIDIA_TESLA_T4"),
        (4, "NVIDIA_TESLA_A100"),
    ]
    legacy = {"scaleTier": "CUSTOM", "masterType": "standard_v100", "masterConfig": {"imageUri": "image"}}
    reading = read_request({"trainingInput": legacy}, strict=False)
    (master,) = replicas(ReplicaJobKind.TRAINING_JOB, reading.request, job="v100")
    assert (master.accelerators, master.accelerator) == (1, "NVIDIA_TESLA_V100")
