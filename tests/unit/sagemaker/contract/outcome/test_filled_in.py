"""The defaults of the service. The names in comments are those of public records of its answers."""

from typing import Any

import pytest
from tests.unit.sagemaker.contract.outcome.test_describe import JOB

from smlocal.sagemaker.contract.outcome.describe import describe

S3 = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/train"}}
FSX = {"FileSystemDataSource": {"FileSystemId": "fs-1", "FileSystemType": "FSxLustre", "DirectoryPath": "/a"}}
REQUEST: dict[str, Any] = {
    "TrainingJobName": "job",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/"},
    "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 30},
}


def asked(**members: Any) -> dict[str, Any]:
    return describe({**REQUEST, **members}, JOB)


@pytest.mark.parametrize("source", [S3, FSX], ids=["s3", "fsx"])
def test_a_channel_has_its_compression_and_its_wrapper(source: dict[str, Any]) -> None:
    # describe-2021-02-25-spot-fsx, ack-success-completed-describe
    plain = {"ChannelName": "train", "DataSource": source}
    filled = {**plain, "CompressionType": "None", "RecordWrapperType": "None"}
    for given in (plain, {**plain, "CompressionType": None}):
        assert asked(InputDataConfig=[given])["InputDataConfig"] == [filled]


def test_what_a_channel_says_stays() -> None:
    said = {"ChannelName": "train", "DataSource": S3, "CompressionType": "Gzip", "RecordWrapperType": "RecordIO"}
    request = {**REQUEST, "InputDataConfig": [said, {"ChannelName": "test", "DataSource": S3}]}
    assert describe(request, JOB)["InputDataConfig"][0] == said
    assert request["InputDataConfig"][1] == {"ChannelName": "test", "DataSource": S3}, "the request is left alone"


@pytest.mark.parametrize("none", [{}, {"InputDataConfig": []}, {"InputDataConfig": None}])
def test_without_channels_there_is_an_empty_list(none: dict[str, Any]) -> None:
    assert asked(**none)["InputDataConfig"] == []


def test_the_output_has_its_compression() -> None:
    assert asked()["OutputDataConfig"] == {"S3OutputPath": "s3://bucket/", "KmsKeyId": "", "CompressionType": "GZIP"}
    plain = {"S3OutputPath": "s3://bucket/", "CompressionType": "NONE"}
    assert asked(OutputDataConfig=plain)["OutputDataConfig"]["CompressionType"] == "NONE"


@pytest.mark.parametrize(("said", "shown"), [(None, False), (False, False), (True, True)])
def test_metrics_have_no_time_series_unless_asked(said: bool | None, shown: bool) -> None:
    # ack-success-completed-describe, which has metric definitions, says false.
    definitions = [{"Name": "loss", "Regex": "loss=(.*)"}]
    algorithm = {**REQUEST["AlgorithmSpecification"], "MetricDefinitions": definitions}
    if said is not None:
        algorithm["EnableSageMakerMetricsTimeSeries"] = said
    answer = asked(AlgorithmSpecification=algorithm)["AlgorithmSpecification"]
    assert answer == {**algorithm, "EnableSageMakerMetricsTimeSeries": shown}


@pytest.mark.parametrize(
    ("config", "status", "shown"),
    [
        (None, "Disabled", None),  # ack-success-completed-describe
        ({"S3OutputPath": "s3://b/"}, "Enabled", {"S3OutputPath": "s3://b/", "ProfilingIntervalInMilliseconds": 500}),
        ({}, "Enabled", {"ProfilingIntervalInMilliseconds": 500}),  # describe-2021-06-14-completed
        ({"ProfilingIntervalInMilliseconds": 100}, "Enabled", {"ProfilingIntervalInMilliseconds": 100}),
        ({"DisableProfiler": True}, "Disabled", {"DisableProfiler": True}),
        ({"DisableProfiler": False, "ProfilingIntervalInMilliseconds": 200}, "Enabled", None),
    ],
)
def test_the_profiling_status_follows_the_configuration(config: Any, status: str, shown: Any) -> None:
    answer = asked() if config is None else asked(ProfilerConfig=config)
    assert answer["ProfilingStatus"] == status
    assert answer.get("ProfilerConfig") == (config if shown is None else shown)


def test_structures_that_the_request_lacks_are_not_made_up() -> None:
    answer = describe({"TrainingJobName": "job"}, JOB)
    absent = {"AlgorithmSpecification", "OutputDataConfig", "ResourceConfig", "ProfilerConfig", "DebugHookConfig"}
    assert not absent & answer.keys()
