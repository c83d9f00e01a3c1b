"""`smlocal submit` of a pipeline without a service: what is said before anything could be sent."""

import json
import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.service.aws_answers import Answers, aws_answering

from smlocal.cli.main import run_command_line

ECR = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
ROLE = "arn:aws:iam::123456789012:role/P"
EXECUTION = "arn:aws:sagemaker:eu-west-1:123456789012:pipeline/held/execution/abcdefghijkl"
DEFINITION: dict[str, Any] = {
    "Version": "2020-12-01",
    "Parameters": [
        {"Name": "Data", "Type": "String", "DefaultValue": "s3://bucket/in"},
        {"Name": "Image", "Type": "String", "DefaultValue": f"{ECR}/held:1"},
        {"Name": "Epochs", "Type": "Integer"},
    ],
    "Steps": [
        {
            "Name": "Train",
            "Type": "Training",
            "Arguments": {
                "RoleArn": ROLE,
                "AlgorithmSpecification": {"TrainingImage": {"Get": "Parameters.Image"}, "TrainingInputMode": "File"},
                "InputDataConfig": [
                    {
                        "ChannelName": "train",
                        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": {"Get": "Parameters.Data"}}},
                    }
                ],
                "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
                "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 10},
                "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
            },
        },
        {"Name": "Tell", "Type": "Lambda", "FunctionArn": "arn:aws:lambda:eu-west-1:123456789012:function:tell"},
        {
            "Name": "Register",
            "Type": "RegisterModel",
            "Arguments": {
                "ModelPackageGroupName": "held",
                "InferenceSpecification": {
                    "Containers": [
                        {
                            "Image": f"{ECR}/serving:1",
                            "ModelDataUrl": {"Get": "Steps.Train.ModelArtifacts.S3ModelArtifacts"},
                        }
                    ]
                },
            },
        },
    ],
}
LOCAL: dict[str, Any] = {"Region": "eu-west-1", "Steps": {"Tell": {"Skip": True}}}
GIVEN = ["--name", "held", "--role", ROLE, "-p", "Epochs=3", "--dry-run"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without any AWS configuration."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(data: dict[str, Any], name: str = "pipeline.yaml") -> str:
    Path(name).write_text(yaml.safe_dump(data, sort_keys=False))
    return name


def changed(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    data = {**deepcopy(DEFINITION), "Local": deepcopy(LOCAL)}
    change(data)
    return data


def test_a_dry_run_shows_both_requests(capfd: pytest.CaptureFixture[str]) -> None:
    path = write({**DEFINITION, "Local": {**LOCAL, "Sources": {"s3://bucket/in": "./data"}}})
    assert run_command_line(["submit", path, *GIVEN, "--select", "Train", "--source-execution", EXECUTION]) == 0
    said = capfd.readouterr()
    sent = yaml.safe_load(said.out)
    assert [*sent] == ["PipelineName", "RoleArn", "PipelineDefinition"]
    assert json.loads(sent["PipelineDefinition"]) == DEFINITION
    for part in (
        "! the service runs the steps themselves, and not their stand-ins in Local.Steps: Tell",
        "! the service reads data in S3, and not the folders of Local.Sources",
        "may take: at most 2 h of ml.m5.large",
        "aws sagemaker create-pipeline --cli-input-yaml file://request.yaml --region eu-west-1",
        "aws sagemaker start-pipeline-execution --pipeline-name held --pipeline-parameters",
    ):
        assert part in said.err, said.err
    assert run_command_line(["submit", path, *GIVEN, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["Request"] == sent
    assert found["Start"] == {"PipelineName": "held", "PipelineParameters": [{"Name": "Epochs", "Value": "3"}]}


def test_a_request_keeps_its_members_and_its_text(capfd: pytest.CaptureFixture[str]) -> None:
    text = json.dumps({**DEFINITION, "Parameters": DEFINITION["Parameters"][:2]}, indent=1)
    request = {
        "PipelineName": "held",
        "PipelineDefinition": text,
        "RoleArn": ROLE,
        "ClientRequestToken": "a" * 32,
        "Tags": [{"Key": "team", "Value": "a"}],
        "ParallelismConfiguration": {"MaxParallelExecutionSteps": 2},
        "Local": LOCAL,
    }
    Path("smlocal.toml").write_text(f'role = "{ROLE}2"\n[submit]\nupload-to = "s3://bucket/in"\n')
    assert run_command_line(["submit", write(request), "--dry-run"]) == 0
    sent = yaml.safe_load(capfd.readouterr().out)
    assert sent == {name: each for name, each in request.items() if name not in {"ClientRequestToken", "Local"}}
    request["PipelineDefinition"] = json.loads(text)  # in place, as people write it
    del request["PipelineName"]
    assert run_command_line(["submit", write(request), "--dry-run", "--name", "two", "--role", f"{ROLE}3"]) == 0
    sent = yaml.safe_load(capfd.readouterr().out)
    assert (sent["PipelineName"], sent["RoleArn"]) == ("two", f"{ROLE}3")
    assert json.loads(sent["PipelineDefinition"]) == json.loads(text)


def test_all_that_the_service_would_refuse_is_told_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    def change(data: dict[str, Any]) -> None:
        data["Parameters"][0]["DefaultValue"] = "./data"
        data["Parameters"][1]["DefaultValue"] = "held:1"
        data["Steps"][0]["Arguments"]["OutputDataConfig"]["S3OutputPath"] = "./out"
        container = data["Steps"][2]["Arguments"]["InferenceSpecification"]["Containers"][0]
        container["ModelDataUrl"] = "./model.tar.gz"
        container["Image"] = "serving:1"
        data["Local"]["Select"] = ["Trian"]

    assert run_command_line(["submit", write(changed(change)), "--dry-run"]) == 2
    said = capfd.readouterr().err
    for part in (
        "9 problems in pipeline.yaml",
        "'pipelineName' failed",
        "'roleArn' failed",
        "the parameter 'Epochs' has no default, and no value was given",
        "Train: Value './data' at 'inputDataConfig.1.member.dataSource.s3DataSource.s3Uri' failed",
        "Train: Value './out' at 'outputDataConfig.s3OutputPath' failed",
        "./model.tar.gz is a path of this machine, which the service cannot read",
        "Train: held:1 is not in Amazon ECR",
        "Register: serving:1 is not in Amazon ECR",
        "did you mean Train?",
        "--name NAME",
        "--role arn:aws:iam::ACCOUNT:role/NAME",
        "aws s3 cp --recursive DIR s3://BUCKET/PREFIX",
    ):
        assert part in said, said


def of_local(**members: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["Local"].update(members)


def images(data: dict[str, Any]) -> None:
    data["Parameters"][1]["DefaultValue"] = "held:1"
    data["Steps"][2]["Arguments"]["InferenceSpecification"]["Containers"][0]["Image"] = "serving:1"


def large(data: dict[str, Any]) -> None:
    data["Metadata"] = {"text": "é" * (1 << 19)}


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        (images, [], "held:1, serving:1 are not images in Amazon ECR, and the service pulls no other images"),
        (of_local(), ["--output-to", "s3://bucket/out"], "a pipeline, which does not take --output-to"),
        (of_local(), ["--upload-to", "s3://bucket/in"], "a pipeline, which does not take --upload-to"),
        (of_local(), ["--code", "."], "a pipeline, which does not take --code"),
        (of_local(), ["--image", "held:1"], "a pipeline, which does not take --image"),
        (of_local(), ["-p", "Epoch=3"], "the pipeline has no parameter 'Epoch'; did you mean Epochs?"),
        (of_local(), ["-p", "Epochs=many"], "the parameter 'Epochs' must be a whole number"),
        (of_local(), ["--role", "admin"], "Value 'admin' at 'roleArn' failed"),
        (of_local(), ["--name", "a/b"], "Value 'a/b' at 'pipelineName' failed"),
        (of_local(Select=["Train"], Source="held-abc"), [], "the service needs the ARN of an execution there"),
        (of_local(Select=["Register"]), [], "The selected steps [Register] have dependencies on [Train]"),
        (large, [], "is larger than 1 MiB, which no definition may be"),
    ],
)
def test_what_is_refused(
    change: Callable[[dict[str, Any]], None],
    options: list[str],
    sentence: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    data = changed(change)
    path = "pipeline.json"
    Path(path).write_text(json.dumps(data, ensure_ascii=False))
    assert run_command_line(["submit", path, *GIVEN, *options]) == 2
    said = capfd.readouterr()
    assert sentence in said.err, said.err
    assert said.out == ""


def test_commands_that_push_each_image_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["submit", write(changed(images)), *GIVEN]) == 2
    said = capfd.readouterr().err
    for name in ("held:1", "serving:1"):
        pushed = f"ACCOUNT.dkr.ecr.eu-west-1.amazonaws.com/{name}"
        assert f"docker tag {name} {pushed} && docker push {pushed}" in said


def test_what_only_this_machine_refuses_is_sent(capfd: pytest.CaptureFixture[str]) -> None:
    def change(data: dict[str, Any]) -> None:
        named = {"AlgorithmName": "of-an-account", "TrainingInputMode": "File"}
        data["Steps"][0]["Arguments"]["AlgorithmSpecification"] = named

    assert run_command_line(["submit", write(changed(change)), *GIVEN]) == 0, capfd.readouterr().err
    assert run_command_line(["validate", "pipeline.yaml"]) == 2
    assert "AlgorithmName" in capfd.readouterr().err


def test_a_pipeline_that_was_updated_and_not_started_is_told(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = (400, {"__type": "ValidationException", "message": "no"})
    unknown = (400, {"__type": "ResourceNotFound", "message": "no"})
    answers: Answers = {
        "DescribePipeline": unknown,
        "DescribeImages": refused,
        "CreatePipeline": (200, {"PipelineArn": "arn"}),
        "StartPipelineExecution": refused,
    }
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with aws_answering(answers) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        options = ["--name", "held", "--role", ROLE, "-p", "Epochs=3", "--yes"]
        assert run_command_line(["submit", write(changed(of_local())), *options]) == 2
    said = capfd.readouterr().err
    assert "SageMaker refuses StartPipelineExecution" in said
    assert "The pipeline held itself is created." in said
