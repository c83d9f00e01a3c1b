import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from smlocal.ai_platform.planning_of_jobs import expanded, replica_variables
from smlocal.ai_platform.replicas import replicas
from smlocal.ai_platform.validation.rules import read_request

Json = dict[str, Any]


def _variables(data: Json, job: str = "census_1") -> list[dict[str, str]]:
    reading = read_request(data, strict=False)
    assert (reading.violations, reading.refused) == ([], [])
    found = replicas(reading.kind, reading.request, job=job)
    return [replica_variables(reading.kind, reading.request, each, found, job=job) for each in found]


def test_cluster_of_a_training_job(training_job: Json) -> None:
    variables = _variables(training_job)
    specs = [json.loads(each["CLUSTER_SPEC"]) for each in variables]
    configs = [json.loads(each["TF_CONFIG"]) for each in variables]
    assert {name: len(hosts) for name, hosts in specs[0]["cluster"].items()} == {
        "master": 1,
        "worker": 2,
        "ps": 1,
        "evaluator": 1,
    }
    assert {name: len(hosts) for name, hosts in configs[0]["cluster"].items()} == {"master": 1, "worker": 2, "ps": 1}
    assert all(spec["cluster"] == specs[0]["cluster"] for spec in specs)
    assert [spec["task"] for spec in specs] == [
        {"type": "master", "index": 0},
        {"type": "worker", "index": 0},
        {"type": "worker", "index": 1},
        {"type": "ps", "index": 0},
        {"type": "evaluator", "index": 0},
    ]
    assert [config["task"]["type"] for config in configs] == ["master", "worker", "worker", "ps", "evaluator"]
    assert configs[0]["job"]["worker_count"] == "2"
    assert configs[0]["job"]["master_config"] == {"image_uri": "gcr.io/project/train"}
    assert configs[0]["environment"] == specs[0]["environment"] == "cloud"
    assert variables[0]["CLOUD_ML_JOB_ID"] == "census_1"
    assert json.loads(variables[0]["CLOUD_ML_JOB"]) == configs[0]["job"]
    assert not any(name.startswith("AIP_") for name in variables[0])


def test_the_master_is_called_chief_on_demand(training_job: Json) -> None:
    training_job["trainingInput"]["useChiefInTfConfig"] = True
    first = _variables(training_job)[0]
    config = json.loads(first["TF_CONFIG"])
    assert (config["task"]["type"], list(config["cluster"])) == ("chief", ["chief", "worker", "ps"])
    assert config["cluster"]["chief"][0].startswith("cmle-training-master-")
    assert json.loads(first["CLUSTER_SPEC"])["task"]["type"] == "master"


def test_cluster_of_a_custom_job(custom_job: Json) -> None:
    variables = _variables(custom_job)
    spec = json.loads(variables[2]["CLUSTER_SPEC"])
    assert list(spec) == ["cluster", "environment", "task", "job", "open_ports"]
    assert {name: len(hosts) for name, hosts in spec["cluster"].items()} == {
        "workerpool0": 1,
        "workerpool1": 2,
        "workerpool3": 1,
    }
    assert spec["task"] == {"type": "workerpool1", "index": 1}
    assert json.loads(spec["job"]) == {"python_module": "", "package_uris": [], "job_args": []}
    config = json.loads(variables[3]["TF_CONFIG"])
    assert list(config["cluster"]) == ["chief", "worker"]
    assert config["task"]["type"] == "evaluator"
    assert config["cluster"]["worker"] == spec["cluster"]["workerpool1"]


def test_a_single_replica(custom_job: Json) -> None:
    del custom_job["jobSpec"]["workerPoolSpecs"][1:], custom_job["jobSpec"]["baseOutputDirectory"]
    (alone,) = _variables(custom_job)
    assert set(alone) == {"CLUSTER_SPEC", "CLOUD_ML_JOB_ID", "RATE"}
    (basic,) = _variables({"trainingInput": {"masterConfig": {"imageUri": "image"}}})
    assert json.loads(basic["TF_CONFIG"])["task"]["type"] == "master"


def test_output_directories(custom_job: Json) -> None:
    first = _variables(custom_job)[0]
    assert {name: value for name, value in first.items() if name.startswith("AIP_")} == {
        "AIP_MODEL_DIR": "gs://bucket/census/model/",
        "AIP_CHECKPOINT_DIR": "gs://bucket/census/checkpoints/",
        "AIP_TENSORBOARD_LOG_DIR": "gs://bucket/census/logs/",
    }
    assert first["CLOUD_ML_JOB_ID"].isdecimal()
    assert first["CLOUD_ML_JOB_ID"] != _variables(custom_job, "other")[0]["CLOUD_ML_JOB_ID"]


def test_references_to_earlier_variables_are_replaced() -> None:
    given = [
        ("A", "1"),
        ("B", "$(A)$(DIR)"),
        ("C", "$(D) $$(A) $A"),
        ("D", "$(D)"),
        ("DIR", "mine"),
        ("E", "$(DIR)"),
    ]
    assert expanded({"DIR": "/x"}, given) == {
        "DIR": "mine",
        "A": "1",
        "B": "1/x",
        "C": "$(D) $(A) $A",
        "D": "$(D)",
        "E": "mine",
    }


@given(value=st.text(alphabet="$()AB ", max_size=30))
def test_text_without_known_names_stays(value: str) -> None:
    unescaped = value.replace("$$(", "").count("$(") == value.count("$(")
    if unescaped:
        assert expanded({}, [("X", value)]) == {"X": value}
