"""Flags and keywords that describe the data of a processing job."""

from typing import Any

import pytest

from smlocal.api.overrides import apply_overrides
from smlocal.errors import ChannelUnknownError, UsageRefusedError
from smlocal.jobfile.document import Document


def changed(data: dict[str, Any], **given: Any) -> dict[str, Any]:
    document = Document({"AppSpecification": {"ImageUri": "i"}, **data}, name="job.yaml", directory="/here")
    apply_overrides(document, given)  # type: ignore[arg-type]  # any keywords
    return document.data


@pytest.mark.parametrize(
    ("text", "uri", "path"),
    [
        ("/data", "/data", "/opt/ml/processing/a"),
        ("/data:/opt/ml/processing/x", "/data", "/opt/ml/processing/x"),
        ("s3://bucket/key", "s3://bucket/key", "/opt/ml/processing/a"),
        ("s3://bucket/key:/opt/ml/processing/x", "s3://bucket/key", "/opt/ml/processing/x"),
        ("/with:colon", "/with:colon", "/opt/ml/processing/a"),
    ],
)
def test_an_input(text: str, uri: str, path: str) -> None:
    (found,) = changed({}, inputs={"a": text})["ProcessingInputs"]
    assert found == {"InputName": "a", "S3Input": {"S3Uri": uri, "LocalPath": path}}


def test_an_input_of_the_file_keeps_its_folder() -> None:
    data = {
        "ProcessingInputs": [{"InputName": "a", "S3Input": {"S3Uri": "s3://b", "LocalPath": "/opt/ml/processing/z"}}]
    }
    for keyword in ("inputs", "channels"):
        (found,) = changed(data, **{keyword: {"a": "/data"}})["ProcessingInputs"]
        assert found["S3Input"] == {"S3Uri": "/data", "LocalPath": "/opt/ml/processing/z"}
    with pytest.raises(ChannelUnknownError):
        changed(data, channels={"b": "/data"})


def test_an_output() -> None:
    config = changed({}, processing_outputs={"o": "/opt/ml/processing/o:/there"})["ProcessingOutputConfig"]
    assert config == {
        "Outputs": [{"OutputName": "o", "S3Output": {"S3Uri": "/there", "LocalPath": "/opt/ml/processing/o"}}]
    }
    with pytest.raises(UsageRefusedError, match="not a folder below"):
        changed({}, processing_outputs={"o": "/opt/ml/processing/o"})


def test_what_has_another_place() -> None:
    found = changed(
        {}, name="n", instance_count=2, instance_type="ml.m5.large", max_run=5, entrypoint=["a"], role="r", publish=True
    )
    assert found["ProcessingJobName"] == "n"
    assert found["ProcessingResources"]["ClusterConfig"] == {"InstanceCount": 2, "InstanceType": "ml.m5.large"}
    assert found["StoppingCondition"] == {"MaxRuntimeInSeconds": 5}
    assert found["AppSpecification"] == {"ImageUri": "i", "ContainerEntrypoint": ["a"]}
    assert (found["RoleArn"], found["Local"]) == ("r", {"Publish": True})


@pytest.mark.parametrize("given", [{"hyperparameters": {"a": 1}}, {"code": "x"}, {"input_mode": "Pipe"}])
def test_what_only_training_jobs_take_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageRefusedError, match="which does not take"):
        changed({}, **given)


def test_what_only_processing_jobs_take_is_refused_elsewhere() -> None:
    document = Document({"AlgorithmSpecification": {}}, name="job.yaml", directory="/here")
    with pytest.raises(UsageRefusedError, match="which does not take --input"):
        apply_overrides(document, {"inputs": {"a": "b"}})
