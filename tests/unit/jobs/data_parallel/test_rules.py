from typing import Any

import pytest

ENABLED = {"sagemaker_distributed_dataparallel_enabled": "true"}
NAMED = {**ENABLED, "sagemaker_distribution_instance_groups": '["homogeneousCluster"]'}
DDP = {"sagemaker_pytorch_ddp_enabled": "true", "sagemaker_distribution_instance_groups": '["homogeneousCluster"]'}
PROCESSES = "sagemaker_mpi_num_of_processes_per_host"


def warnings(plan: Any, hyperparameters: dict[str, str], kind: str, **local: Any) -> dict[str, str]:
    made = plan(
        {"HyperParameters": hyperparameters, "ResourceConfig": {"InstanceType": kind, "InstanceCount": 2}}, local
    )
    return {note.id: note.text for note in made.notes if note.id.startswith("data-parallel-")}


@pytest.mark.parametrize("kind", ["ml.p3.16xlarge", "ml.p3dn.24xlarge", "ml.p4d.24xlarge", "ml.p4de.24xlarge"])
def test_the_types_of_the_library(kind: str, plan: Any) -> None:
    assert warnings(plan, NAMED, kind) == {}


@pytest.mark.parametrize("kind", ["ml.p5.48xlarge", "ml.g5.48xlarge", "ml.m5.large", "ml.p3.8xlarge"])
def test_another_type_is_named(kind: str, plan: Any) -> None:
    said = warnings(plan, NAMED, kind)["data-parallel-type"]
    assert f"does not run on {kind}: only on ml.p3.16xlarge" in said
    # Only the toolkit's launcher runs everywhere.
    assert "data-parallel-type" not in warnings(plan, DDP, kind)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("8", None),
        ("2", "is 2, and ml.p4d.24xlarge has 8 GPUs"),
        ("1000", "is 1000, and ml.p4d.24xlarge has 8 GPUs"),
        ("0", "is 0: the toolkit needs a whole number"),
        ("-1", "is -1: the toolkit needs a whole number"),
        ("two", "is 'two': the toolkit needs a whole number"),
        ("true", "is True: the toolkit needs a whole number"),
        ("1.5", "is 1.5: the toolkit needs a whole number"),
        ('"8"', "is '8': the toolkit needs a whole number"),
    ],
)
def test_processes_for_each_host(given: str, said: str | None, plan: Any) -> None:
    found = warnings(plan, {**NAMED, PROCESSES: given}, "ml.p4d.24xlarge").get("data-parallel-processes")
    assert (found is None) == (said is None)
    assert said is None or f"{PROCESSES} {said}" in str(found)


def test_without_gpus_a_number_is_wanted(plan: Any) -> None:
    said = warnings(plan, NAMED, "ml.p4d.24xlarge", AllowCpu=True)["data-parallel-processes"]
    assert "8 on ml.p4d.24xlarge" in said
    assert "--processes-per-host" in said
    assert "data-parallel-processes" not in warnings(plan, NAMED, "local")


@pytest.mark.parametrize("named", ["homogeneousCluster", '["other"]', "[]", "1"])
def test_hosts_that_the_toolkit_leaves_out(named: str, plan: Any) -> None:
    given = {"sagemaker_distribution_instance_groups": named}
    said = warnings(plan, {**ENABLED, **given}, "ml.p4d.24xlarge")["data-parallel-groups"]
    assert "algo-1, algo-2" in said


def test_one_group_need_not_be_named(plan: Any) -> None:
    assert "data-parallel-groups" not in warnings(plan, ENABLED, "ml.p4d.24xlarge")


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        ({"sagemaker_distribution_instance_groups": '["train"]'}, "does not name the group of algo-3:"),
        ({}, "each of the groups data, train by itself"),
    ],
)
def test_one_host_of_another_group(given: dict[str, str], warning: str, plan: Any) -> None:
    groups = [("train", "ml.p4d.24xlarge", 2), ("data", "ml.m5.large", 1)]
    made = plan(
        {
            "HyperParameters": {**ENABLED, **given},
            "ResourceConfig": {
                "InstanceGroups": [
                    {"InstanceGroupName": name, "InstanceType": kind, "InstanceCount": count}
                    for name, kind, count in groups
                ]
            },
        }
    )
    said = {note.id: note.text for note in made.notes}
    assert warning in said["data-parallel-groups"]
