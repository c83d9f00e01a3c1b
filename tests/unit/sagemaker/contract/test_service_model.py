import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import model_exceptions as exceptions
import pytest
from tests.kit.service_model import differences

ROOT = Path(__file__).resolve().parents[4]
Model = dict[str, Any]


def test_our_models_state_what_the_service_states(service: Model) -> None:
    assert differences(service) == []


@pytest.mark.slow(0.5)
def test_the_generated_files_are_what_the_generator_writes() -> None:
    script = ROOT / "scripts" / "generate-models"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def _change(model: Model, place: str, value: Any) -> None:
    *steps, last = place.split("/")
    for step in steps:
        model = model[step]
    if value is None:
        del model[last]
    else:
        model[last] = value


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("place", "value", "found"),
    [
        ("Channel/members/New", {"shape": "S3Uri"}, "Channel.New: not in our model"),
        ("Channel/members/ContentType", None, "Channel.ContentType: not in the service's model"),
        ("Channel/required", ["ChannelName"], "Channel.DataSource: optional on the service"),
        ("VpcConfig/required", None, "VpcConfig.Subnets: optional on the service"),
        ("ChannelName/max", 65, "Channel.ChannelName: max is 65 on the service, 64 here"),
        ("ChannelName/pattern", "x", "Channel.ChannelName: pattern is 'x' on the service"),
        ("ChannelName/min", None, "Channel.ChannelName: min is absent on the service, 1 here"),
        ("MaxRuntimeInSeconds/min", 2, "StoppingCondition.MaxRuntimeInSeconds: min is 2"),
        ("MaxRuntimeInSeconds/type", "long", "StoppingCondition.MaxRuntimeInSeconds: type is 'long'"),
        ("HyperParameters/max", 200, "CreateTrainingJobRequest.HyperParameters: max is 200"),
        ("HyperParameterKey/max", 1, "CreateTrainingJobRequest.HyperParameters key: max is 1"),
        ("HyperParameterValue/max", 1, "CreateTrainingJobRequest.HyperParameters value: max is 1"),
        ("Subnets/max", 17, "VpcConfig.Subnets: max is 17"),
        ("SubnetId/max", 17, "VpcConfig.Subnets[]: max is 17"),
        ("TrainingInputMode/enum", ["Pipe", "File", "FastFile", "X"], "AlgorithmSpecification.TrainingInputMode: enum"),
        ("TrainingInputMode/enum", ["Pipe", "File"], "AlgorithmSpecification.TrainingInputMode: enum"),
        ("VpcConfig/type", "string", "CreateTrainingJobRequest.VpcConfig: type is 'string'"),
        ("FailureReason/max", 1, "DescribeTrainingJobResponse.FailureReason: max is 1"),
        ("DescribeTrainingJobResponse/members/Tags", {"shape": "TagList"}, "DescribeTrainingJobResponse.Tags: not in"),
        ("Timestamp/type", "string", "DescribeTrainingJobResponse.CreationTime: type is 'string'"),
        ("CreateTrainingJobRequest/required", ["OutputDataConfig"], "CreateTrainingJobRequest.RoleArn: this exception"),
    ],
)
def test_a_change_of_the_service_is_noticed(service: Model, place: str, value: Any, found: str) -> None:
    changed = {**service, "shapes": copy.deepcopy(service["shapes"])}
    _change(changed["shapes"], place, value)
    assert any(line.startswith(found) for line in differences(changed)), differences(changed)


def test_an_exception_that_is_not_needed_is_noticed(service: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(exceptions.OPTIONAL_HERE, "Channel.ChannelName", "no reason")
    monkeypatch.setitem(exceptions.PATHS_HERE, "KmsKeyId", "no reason")
    assert differences(service) == [
        "Channel.ChannelName: this exception is not needed",
        "KmsKeyId: this exception is not needed",
    ]


def test_the_exceptions_are_few_and_have_reasons() -> None:
    stated = {**exceptions.OPTIONAL_HERE, **exceptions.PATHS_HERE}
    assert len(stated) <= 3
    assert all(stated.values())
