"""Locations in a request, found by the shapes of the service's model, and which of them are paths of this machine."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore
import pytest

from smlocal.api.job_source import read_document
from smlocal.api.overrides import Overrides
from smlocal.errors import PathInDescriptionError, SourceUnmappedError
from smlocal.jobfile.document import Document, Elsewhere, recorded_document
from smlocal.jobs.planning.aspects.inputs.look import list_inputs, store_of
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.aspects.rules.plan import rule_locations
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.jobfile.local_paths import local_locations, locations
from smlocal.sagemaker.training.workload import workload_of
from smlocal.terms.validation.violation import Path as Place

_MODEL = Path(botocore.__file__).parent / "data" / "sagemaker" / "2017-07-24" / "service-2.json.gz"
SHAPES: dict[str, Any] = json.loads(gzip.decompress(_MODEL.read_bytes()))["shapes"]
KEYS = ("source_s3_uri", "other_trial_0", "other_trial_123", "other_trial_1234", "other_trial_x", "threshold")
REQUEST: dict[str, Any] = {
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "InputDataConfig": [
        {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://b/train"}}}
    ],
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
}


def listed(job: JobFile) -> InputFacts:
    work = workload_of(job)
    return list_inputs(work, strict=False, region="us-east-1", store=store_of(work, "us-east-1"))


def filled(name: str, text: str) -> Any:
    """A value of a shape with every member of it, and `text` as every string."""
    shape = SHAPES[name]
    if shape["type"] == "structure":
        return {member: filled(of["shape"], text) for member, of in shape["members"].items()}
    if shape["type"] == "list":
        return [filled(shape["member"]["shape"], text)]
    if shape["type"] == "map":
        return {key: filled(shape["value"]["shape"], text) for key in KEYS}
    return text if shape["type"] == "string" else 1


def places(name: str, path: Place = ()) -> Iterator[tuple[Place, str]]:
    """Every string in such a value, with the name of its shape."""
    shape = SHAPES[name]
    if shape["type"] == "structure":
        for member, of in shape["members"].items():
            yield from places(of["shape"], (*path, member))
    elif shape["type"] == "list":
        yield from places(shape["member"]["shape"], (*path, 0))
    elif shape["type"] == "map":
        for key in KEYS:
            yield from places(shape["value"]["shape"], (*path, key))
    elif shape["type"] == "string":
        yield path, name


def test_every_location_of_the_service_is_found_and_nothing_else() -> None:
    expected = {path for path, shape in places("CreateTrainingJobRequest") if shape == "S3Uri"}
    of_rules = {
        (rules, 0, "RuleParameters", key)
        for rules in ("DebugRuleConfigurations", "ProfilerRuleConfigurations")
        for key in KEYS[:3]
    }
    assert len(expected) >= 8
    request = filled("CreateTrainingJobRequest", "/etc")
    assert {path for path, _ in locations(request)} == expected | of_rules
    assert {path for path, _ in local_locations(request)} == expected | of_rules
    assert local_locations(filled("CreateTrainingJobRequest", "s3://bucket/etc")) == []


def test_what_a_rule_reads_is_what_is_looked_at() -> None:
    parameters = {key: f"/{key}" for key in KEYS}
    found = [uri for _, uri in locations({"DebugRuleConfigurations": [{"RuleParameters": parameters}]})]
    assert sorted(found) == sorted(rule_locations(parameters))


@pytest.mark.parametrize(
    "uri", ["/etc", "./etc", "etc", "../x", "~/x", "file:///etc", "FILE:///etc", "file:/etc", "s3:/x"]
)
def test_spellings_of_a_local_path(uri: str) -> None:
    assert local_locations({"CheckpointConfig": {"S3Uri": uri}}) == [(("CheckpointConfig", "S3Uri"), uri)]


@pytest.mark.parametrize(
    "damaged", [None, [], 3, {"InputDataConfig": {"S3Uri": "/etc"}}, {"CheckpointConfig": ["/etc"]}]
)
def test_damaged_requests_have_no_locations(damaged: Any) -> None:
    assert list(locations(damaged)) == []


def described(*, elsewhere: Elsewhere | None = None, directory: str = "/work", **more: Any) -> Document:
    document = Document({**REQUEST, **more}, name="answer.json", directory=directory)
    document.elsewhere = elsewhere or Elsewhere()
    return document


def test_a_description_may_name_none_and_a_job_file_may() -> None:
    config = {"S3Uri": "/home/me/checkpoints"}
    with pytest.raises(PathInDescriptionError) as caught:
        read_job(described(CheckpointConfig=config), strict=False)
    assert caught.value.details == ("answer.json   CheckpointConfig.S3Uri: /home/me/checkpoints",)
    document = described(CheckpointConfig=config)
    document.elsewhere = None
    assert read_job(document, strict=False).request.CheckpointConfig is not None


def test_options_of_the_user_replace_them(tmp_path: Path) -> None:
    def asked() -> Document:
        document = described(OutputDataConfig={"S3OutputPath": "/home/them/out"})
        document.data["InputDataConfig"] = [
            {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "/home/them"}}}
        ]
        return document

    one = Overrides(channels={"train": tmp_path})
    both = Overrides(channels={"train": tmp_path}, output=tmp_path)
    with pytest.raises(PathInDescriptionError, match="names paths of this machine") as caught:
        read_document(asked(), one, path=None, fill_in=False, strict=False)
    assert caught.value.details == ("answer.json   OutputDataConfig.S3OutputPath: /home/them/out",)
    job, _ = read_document(asked(), both, path=None, fill_in=False, strict=False)
    assert job.request.OutputDataConfig.S3OutputPath == str(tmp_path)


def test_only_the_paths_that_are_allowed() -> None:
    allowed = Elsewhere(own_job="mine", allowed=frozenset({(("CheckpointConfig", "S3Uri"), "/mine")}))
    read_job(described(elsewhere=allowed, CheckpointConfig={"S3Uri": "/mine"}), strict=False)
    others: tuple[dict[str, Any], ...] = (
        {"CheckpointConfig": {"S3Uri": "/mine/too"}},
        {"TensorBoardOutputConfig": {"S3OutputPath": "/mine"}},
    )
    for more in others:
        with pytest.raises(PathInDescriptionError) as caught:
            read_job(described(elsewhere=allowed, **more), strict=False)
        assert "smlocal rerun mine" in caught.value.remedy[0]


def test_what_is_recorded_is_known_when_it_is_read_again() -> None:
    document = described()
    document.set(("CheckpointConfig", "S3Uri"), "/given/by/the/user")
    again = recorded_document(json.loads(json.dumps(document.record())))
    assert again.elsewhere == Elsewhere(checked=True)
    assert read_job(again, strict=False).document is again
    document.elsewhere = None
    assert recorded_document(document.record()).elsewhere is None


def test_a_manifest_of_a_description_names_no_files_here(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("k")
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "m.json").write_text(json.dumps([{"prefix": f"file://{secret}/"}, "key"]))
    source = {"S3DataType": "ManifestFile", "S3Uri": "s3://b/m.json"}
    channels = [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}]
    local = {"Sources": {"s3://b": str(tmp_path / "bucket")}}
    document = described(InputDataConfig=channels, Local=local, directory=str(tmp_path))
    with pytest.raises(PathInDescriptionError, match='the manifest of the channel "train" names files') as caught:
        listed(read_job(document, strict=False))
    assert caught.value.details == ("answer.json   s3://b/m.json", f"its prefix: file://{secret}/")
    document.elsewhere = None
    assert listed(read_job(document, strict=False)).listings["train"].paths == ("key",)


def test_a_folder_of_a_file_system_stays_below_the_folder_that_the_user_gives(tmp_path: Path) -> None:
    (tmp_path / "fs" / "etc").mkdir(parents=True)
    source = {"FileSystemId": "fs-12345678901", "FileSystemAccessMode": "ro", "FileSystemType": "EFS"}

    def folder(path: str) -> str:
        channels = [{"ChannelName": "train", "DataSource": {"FileSystemDataSource": {**source, "DirectoryPath": path}}}]
        local = {"Sources": {"fs-12345678901": str(tmp_path / "fs")}}
        job = read_job(described(InputDataConfig=channels, Local=local), strict=False)
        return listed(job).file_systems["train"].root

    assert folder("/etc") == str(tmp_path / "fs" / "etc")
    with pytest.raises(SourceUnmappedError, match="no local folder can replace"):
        folder("/../../etc")
