"""The describe answer is one that the service's own parser and validator take."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel, Shape
from botocore.parsers import create_parser
from botocore.validate import ParamValidator
from tests.kit import Run


@pytest.fixture(scope="module")
def output_shape() -> Shape:
    model = ServiceModel(Loader().load_service_model("sagemaker", "service-2"))
    shape = model.operation_model("DescribeTrainingJob").output_shape
    assert shape is not None
    return shape


SCRIPTS = {
    "Completed": "echo model >/opt/ml/model/m",
    "Failed": "echo bad >/opt/ml/output/failure; exit 3",
    "Stopped": "sleep 100",
}


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("status", SCRIPTS)
def test_botocore_parses_and_validates_the_answer(
    status: str, tmp_path: Path, smlocal_run: Run, image: Callable[[str], str], output_shape: Shape
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    request = {
        "TrainingJobName": "Described-ABC",
        "RoleArn": "arn:aws:iam::123456789012:role/trainer",
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "HyperParameters": {"epochs": "3"},
        "Environment": {"SCRIPT": f"trap 'exit 0' TERM; {SCRIPTS[status]} & wait $!"},
        "InputDataConfig": [
            {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bkt/t/"}}}
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://bkt/out/"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 2 if status == "Stopped" else 600},
        "Tags": [{"Key": "team", "Value": "blue"}],
        "Local": {"Sources": {"s3://bkt/t/": "./data"}, "Output": "./out"},
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    run = smlocal_run("run", "job.json", "--json", cwd=tmp_path)
    final = json.loads(run.stdout)
    service = smlocal_run("describe", "Described-ABC", "--json", "--service")
    answer: dict[str, Any] = json.loads(service.stdout)
    assert final == json.loads(smlocal_run("describe", "Described-ABC", "--json").stdout)
    assert {name: value for name, value in final.items() if name != "Local"} == answer

    parsed = create_parser("json").parse(
        {"status_code": 200, "headers": {}, "body": service.stdout.encode()}, output_shape
    )
    parsed.pop("ResponseMetadata")
    assert ParamValidator().validate(parsed, output_shape).generate_report() == ""
    assert set(parsed) == set(answer), "a member that the service's model does not know"

    assert parsed["TrainingJobStatus"] == status
    assert parsed["TrainingJobArn"].endswith(":training-job/described-abc")
    assert parsed["ModelArtifacts"] == {"S3ModelArtifacts": "s3://bkt/out/Described-ABC/output/model.tar.gz"}
    assert parsed["CreationTime"].timestamp() == pytest.approx(answer["CreationTime"], abs=0.001)
    transitions = parsed["SecondaryStatusTransitions"]
    assert parsed["TrainingStartTime"] == transitions[1]["StartTime"]
    assert transitions[-1]["StartTime"] == transitions[-1]["EndTime"]
    for one, other in pairwise(transitions):
        assert one["EndTime"] == other["StartTime"]
    assert final["Local"]["Request"] == {"Tags": [{"Key": "team", "Value": "blue"}]}
    assert (tmp_path / "out" / "Described-ABC" / "output" / "model.tar.gz").exists() == (status == "Completed")


@pytest.mark.slow(1)
def test_a_failure_file_of_a_completed_job_is_in_its_result(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    script = "echo no data >/opt/ml/output/failure; chmod 0 /opt/ml/output/failure"
    request = {
        "TrainingJobName": "quiet",
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": script},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2},
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    run = smlocal_run("run", "job.json", "--json", cwd=tmp_path)
    answer = json.loads(run.stdout)
    assert (run.returncode, answer["TrainingJobStatus"]) == (0, "Completed")
    assert answer["Local"]["FailureFiles"] == {"algo-1": "no data\n", "algo-2": "no data\n"}
    described = smlocal_run("describe", "quiet").stdout
    assert 'the program of algo-2 wrote "no data" to /opt/ml/output/failure and exited with 0' in described
