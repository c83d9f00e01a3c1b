from typing import Any

from smlocal.service.compare.subject import request_members


def channel(name: str, **more: Any) -> dict[str, Any]:
    return {"ChannelName": name, "DataSource": {"S3DataSource": {"S3Uri": f"s3://b/{name}"}}, **more}


def test_channels_are_named_and_not_counted() -> None:
    found = request_members({"InputDataConfig": [channel("b"), channel("a", InputMode="Pipe")]})
    assert found == {
        "InputDataConfig[b].ChannelName": "b",
        "InputDataConfig[b].DataSource.S3DataSource.S3Uri": "s3://b/b",
        "InputDataConfig[a].ChannelName": "a",
        "InputDataConfig[a].DataSource.S3DataSource.S3Uri": "s3://b/a",
        "InputDataConfig[a].InputMode": "Pipe",
    }


def test_two_of_one_name_are_counted() -> None:
    found = request_members({"Tags": [{"Key": "k", "Value": "1"}, {"Key": "k", "Value": "2"}]})
    assert found["Tags[0].Value"] == "1"
    assert found["Tags[1].Value"] == "2"


def test_what_an_answer_adds_is_nothing() -> None:
    given = {"InputDataConfig": [channel("a")], "ResourceConfig": {"InstanceCount": 1}, "HyperParameters": {"e": ""}}
    added = {
        "TrainingJobName": "x",
        "InputDataConfig": [channel("a", CompressionType="None", RecordWrapperType="None")],
        "ResourceConfig": {"InstanceCount": 1, "VolumeSizeInGB": 0},
        "OutputDataConfig": {"KmsKeyId": "", "CompressionType": "GZIP"},
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
        "AlgorithmSpecification": {"MetricDefinitions": []},
        "EnableNetworkIsolation": False,
        "HyperParameters": {"e": ""},
    }
    assert request_members(added) == request_members(given)
    assert request_members(given)["HyperParameters.e"] == ""


def test_lists_of_words_are_one_value() -> None:
    request = {"AlgorithmSpecification": {"ContainerEntrypoint": ["sh", "-c"]}}
    assert request_members(request) == {"AlgorithmSpecification.ContainerEntrypoint": ["sh", "-c"]}
