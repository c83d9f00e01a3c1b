from typing import Any

import pytest

from smlocal.api.job_source import override, read_source
from smlocal.errors import ChannelUnknownError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import JobFile

REQUEST: dict[str, Any] = {
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "./out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    "InputDataConfig": [
        {"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
        for name in ("train", "shard-1", "data")
    ],
}


@pytest.mark.parametrize(
    ("name", "meant"), [("trian", "train"), ("Train", "train"), ("training", "train"), ("dta", "data")]
)
def test_a_mistyped_channel_is_refused(name: str, meant: str) -> None:
    with pytest.raises(ChannelUnknownError) as refused:
        read_source(REQUEST, {"channels": {name: "."}}, strict=False)
    assert refused.value.exit_code == 2
    assert refused.value.sentence == f"request has no channel {name!r}"
    assert refused.value.details == ("Its channels: train, shard-1, data",)
    assert refused.value.remedy[0] == f"Did you mean {meant}?"


@pytest.mark.parametrize("name", ["validation", "shard-2", "metadata", "labels"])
def test_another_channel_is_added(name: str) -> None:
    job, _ = read_source(REQUEST, {"channels": {name: "."}}, strict=False)
    assert isinstance(job, JobFile)
    assert [each["ChannelName"] for each in job.raw["InputDataConfig"]] == ["train", "shard-1", "data", name]


def test_channels_of_a_job_without_channels_may_be_similar() -> None:
    job, _ = read_source(None, {"image": "image", "channels": {"train": ".", "trains": "."}}, strict=False)
    assert isinstance(job, JobFile)
    assert len(job.raw["InputDataConfig"]) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("n_estimator", ["hyperparameter n_estimator is new. Did you mean n_estimators, which is in file?"]),
        ("n_estimators", []),
        ("layer_2", []),
        ("depth", []),
    ],
)
def test_a_hyperparameter_with_almost_the_name_of_another_is_named(name: str, said: list[str]) -> None:
    document = Document(
        {**REQUEST, "HyperParameters": {"n_estimators": "9", "layer_1": "5"}}, name="file", directory="."
    )
    messages: list[str] = []
    override(document, {"hyperparameters": {name: "3"}}, fill_in=False, on_message=messages.append)
    assert messages == said
    assert document.data["HyperParameters"][name] == "3"
