"""The request in an answer of DescribeHyperParameterTuningJob, and its tuning file."""

from copy import deepcopy
from typing import Any

import pytest
import yaml
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.errors import PathInDescriptionError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.kinds import TUNING
from smlocal.sagemaker.tuning.tuning_file import read_tuning
from smlocal.service.described_request import described, fetch, is_answer, remarks, use_request

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:hyper-parameter-tuning-job/held"


def answer(definition: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    request = deepcopy(REQUEST)
    given = request["TrainingJobDefinition"]
    given["OutputDataConfig"] = {"S3OutputPath": "s3://bucket/out"}
    given["StaticHyperParameters"] = {"_tuning_objective_metric": "loss", **given.get("StaticHyperParameters", {})}
    given.update(definition or {})
    return {
        "HyperParameterTuningJobArn": ARN,
        "HyperParameterTuningJobStatus": "Completed",
        "CreationTime": 1.0,
        "BestTrainingJob": {},
        "ResponseMetadata": {},
        **request,
        **more,
    }


def test_the_request_has_nothing_that_the_service_adds() -> None:
    job = described(TUNING, answer())
    assert is_answer(TUNING, answer())
    assert [*job.request] == [*REQUEST]
    assert job.request["TrainingJobDefinition"]["StaticHyperParameters"] == {"epochs": "27"}
    assert (job.name, job.region, job.state) == ("held", "eu-west-1", "Completed, eu-west-1")
    assert not job.newer


def test_an_objective_that_a_client_has_written_stays() -> None:
    job = described(TUNING, answer({"StaticHyperParameters": {"_tuning_objective_metric": '"loss"'}}))
    assert job.request["TrainingJobDefinition"]["StaticHyperParameters"] == {"_tuning_objective_metric": '"loss"'}


def test_several_definitions_lose_the_additions_of_our_own_endpoint() -> None:
    one = {
        "TuningObjective": {"Type": "Minimize", "MetricName": "m"},
        "StaticHyperParameters": {"_tuning_objective_metric": "m"},
        "ResourceConfig": {"InstanceType": "ml.m5.large"},
        "HyperParameterTuningResourceConfig": {"InstanceType": "ml.m5.large"},
    }
    job = described(TUNING, answer(TrainingJobDefinition=None, TrainingJobDefinitions=[one]))
    (found,) = job.request["TrainingJobDefinitions"]
    assert [*found] == ["TuningObjective", "HyperParameterTuningResourceConfig"]


def test_members_of_a_newer_service_are_comments() -> None:
    job = described(TUNING, answer({"Later": "b"}, Later=1))
    assert job.newer == {"Later": 1, "TrainingJobDefinition.Later": "b"}
    assert "#   TrainingJobDefinition.Later: b" in job.file_text(file="tuning.yaml")


def test_parents_of_a_warm_start_are_said() -> None:
    start = {"ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "first"}], "WarmStartType": "x"}
    (said,) = remarks(described(TUNING, answer(WarmStartConfig=start)))
    assert "have to be on this machine: first" in said
    assert list(remarks(described(TUNING, answer()))) == []


def test_what_only_our_own_answer_has_is_in_the_request() -> None:
    job = described(TUNING, answer(Local={"Request": {"Tags": [{"Key": "a", "Value": "b"}]}, "Version": 1}))
    assert job.request["Tags"] == [{"Key": "a", "Value": "b"}]
    assert job.local == {}


def test_the_file_is_a_valid_tuning_file() -> None:
    text = described(TUNING, answer()).file_text(file="tuning.yaml")
    data = yaml.safe_load(text)
    assert data["Local"] == {"Region": "eu-west-1"}
    assert "HyperParameterTuningJobName" not in data
    assert read_tuning(Document(data, name="tuning.yaml", directory="/")).plan("x").most == 4


def test_a_request_keeps_its_own_settings() -> None:
    job = described(TUNING, {**REQUEST, "Local": {"Output": "out"}, "Typo": 1})
    assert job.answer is None
    assert job.state == ""
    assert yaml.safe_load(job.file_text(file="-"))["Local"] == {"Output": "out"}
    assert job.newer == {"Typo": 1}


def test_an_answer_may_not_name_paths_of_this_machine() -> None:
    given = answer({"OutputDataConfig": {"S3OutputPath": "/etc"}})
    with pytest.raises(PathInDescriptionError, match=r"d\.json is the description of a job"):
        described(TUNING, given).check_local_paths(name="d.json", allow_local_paths=True)
    document = Document(given, name="d.json", directory="/")
    use_request(TUNING, document, allow_local_paths=True)
    with pytest.raises(PathInDescriptionError):
        read_tuning(document)


def test_the_request_of_an_answer_runs_under_a_new_name() -> None:
    document = Document(answer(), name="d.json", directory="/")
    use_request(TUNING, document, allow_local_paths=False)
    assert document.data["HyperParameterTuningJobName"].startswith("held-2")
    assert document.data["Local"] == {"Region": "eu-west-1"}
    assert read_tuning(document).raw["HyperParameterTuningJobName"].startswith("held-2")


def test_another_arn_is_refused() -> None:
    with pytest.raises(UsageRefusedError, match="is not the ARN of a tuning job"):
        fetch(TUNING, "arn:aws:sagemaker:hyper-parameter-tuning-job/x", profile=None, region=None)
