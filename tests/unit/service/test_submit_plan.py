import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from smlocal.errors import RequestInvalidError, SourceEmptyError, SourceMissingError
from smlocal.errors.of_commands import ImageNotInEcrError, UploadManifestError, UploadPrefixError
from smlocal.jobfile.document import Document
from smlocal.jobfile.reading import load_document
from smlocal.service.submit_plan import SubmitOptions, SubmitPlan, plan_submit

ECR = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"
Plan = Callable[..., SubmitPlan]


def channel(uri: str, name: str = "train", data_type: str = "S3Prefix") -> dict[str, Any]:
    return {"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": data_type, "S3Uri": uri}}}


def request(**members: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": "one",
        "RoleArn": "arn:aws:iam::123456789012:role/Trainer",
        "AlgorithmSpecification": {"TrainingImage": ECR, "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        **members,
    }


def uris(plan: SubmitPlan) -> dict[str, str]:
    return {
        each["ChannelName"]: each["DataSource"]["S3DataSource"]["S3Uri"] for each in plan.request["InputDataConfig"]
    }


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """The plan for this document, whose folder is that of the test."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("one")
    (tmp_path / "scratch").mkdir()

    def make(document: Mapping[str, Any], *, upload_to: str | None = "s3://bucket/in/", **options: Any) -> SubmitPlan:
        given = Document(json.loads(json.dumps(document)), name="job.yaml", directory=str(tmp_path))
        more: Any = {"upload_to": upload_to, "region": "eu-west-1", "scratch": str(tmp_path / "scratch"), **options}
        return plan_submit(given, SubmitOptions(**more))

    return make


def test_a_local_channel_becomes_a_location_and_nothing_else_of_the_request_changes(plan: Plan) -> None:
    asked = request(InputDataConfig=[channel("./data"), channel("s3://there/x", "other")], Local={"AllowCpu": True})
    found = plan(asked)
    there = uris(found)
    assert there["train"].startswith("s3://bucket/in/train/")
    assert there["other"] == "s3://there/x"
    assert [upload.uri for upload in found.uploads] == [there["train"]]
    found.request["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = "./data"
    del asked["Local"]
    assert found.request == asked
    assert found.notes == ()


def test_a_sample_is_for_this_machine(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "data" / "b.txt").write_text("two")
    found = plan(request(InputDataConfig=[channel("./data")], Local={"Sample": 1}))
    assert len(found.uploads[0].files) == 2
    assert "Local.Sample" in found.notes[0]


def test_a_job_without_local_data_needs_no_place_for_it(plan: Plan) -> None:
    assert plan(request(), upload_to=None).uploads == ()


@pytest.mark.parametrize("place", ["bucket/in", "s3://", "s3://B_ad/x", "https://bucket/x", "s3:/bucket"])
def test_a_place_that_is_none_is_refused(plan: Plan, place: str) -> None:
    with pytest.raises(UploadPrefixError, match="is not a location in S3"):
        plan(request(InputDataConfig=[channel("./data")]), upload_to=place)


def test_without_a_place_all_that_is_local_is_named(plan: Plan) -> None:
    with pytest.raises(UploadPrefixError, match='channel "train" and the code are on this machine'):
        plan(request(InputDataConfig=[channel("./data")], Local={"Code": "./data"}), upload_to=None)


def test_everything_that_the_service_would_refuse_is_one_error_with_lines(tmp_path: Path) -> None:
    text = """\
TrainingJobName: bad_name
AlgorithmSpecification: {TrainingImage: local-image, TrainingInputMode: File}
InputDataConfig:
  - ChannelName: train
    DataSource: {S3DataSource: {S3DataType: S3Prefix, S3Uri: ./none}}
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: local, InstanceCount: 1}
"""
    document = load_document(text, name="job.yaml", directory=str(tmp_path))
    with pytest.raises(RequestInvalidError) as caught:
        plan_submit(document, SubmitOptions(upload_to="s3://bucket/in"))
    lines = "\n".join(caught.value.details)
    for part in (
        "job.yaml:1   Value 'bad_name' at",
        "job.yaml:2   local-image is not in Amazon ECR",
        "job.yaml:6   Value './out' at",
        "job.yaml:7   Value 'local' at",
        "'roleArn'",
    ):
        assert part in lines, lines
    assert len(caught.value.details) == 5, lines
    assert [each.partition(":  ")[2].partition(" ")[0] for each in caught.value.remedy] == ["--role", "--output-to"]


def test_what_smlocal_does_not_support_is_the_services_to_judge(plan: Plan) -> None:
    asked = request(AlgorithmSpecification={"AlgorithmName": "some-algorithm", "TrainingInputMode": "File"})
    assert plan(asked).request == asked


@pytest.mark.parametrize(
    "image", ["held:1", "docker.io/library/held", "registry.example.com:5000/held@sha256:" + "0" * 64]
)
def test_an_image_that_is_not_in_ecr_is_refused_with_what_pushes_it(plan: Plan, image: str) -> None:
    with pytest.raises(ImageNotInEcrError) as caught:
        plan(request(AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"}))
    assert f"docker tag {image} ACCOUNT.dkr.ecr.eu-west-1.amazonaws.com/held" in "\n".join(caught.value.remedy)


def test_a_private_registry_is_allowed_where_the_service_can_reach_it(plan: Plan) -> None:
    specification = {
        "TrainingImage": "registry.example.com/held:1",
        "TrainingInputMode": "File",
        "TrainingImageConfig": {"TrainingRepositoryAccessMode": "Vpc"},
    }
    assert plan(request(AlgorithmSpecification=specification)).request["AlgorithmSpecification"] == specification


def test_an_image_of_another_region_is_noted(plan: Plan) -> None:
    assert plan(request(), region="us-east-1").notes == (
        "the image is in eu-west-1, and the job in us-east-1: the service pulls images of its own region",
    )


def test_data_that_is_in_s3_is_left_there_unless_its_local_folder_is_asked_for(plan: Plan) -> None:
    asked = request(InputDataConfig=[channel("s3://there/x/")], Local={"Sources": {"s3://there/x": "./data"}})
    found = plan(asked)
    assert uris(found) == {"train": "s3://there/x/"}
    assert found.notes == (
        'channel "train" is read from s3://there/x/, and not from ./data (--upload-sources uploads that instead)',
    )
    sent = plan(asked, upload_sources=True)
    assert uris(sent)["train"] == sent.uploads[0].uri
    assert [file.path for file in sent.uploads[0].files] == ["a.txt"]


def test_code_becomes_an_archive_that_is_the_same_each_time(plan: Plan, tmp_path: Path) -> None:
    code = tmp_path / "code"
    (code / "__pycache__").mkdir(parents=True)
    (code / "__pycache__" / "train.pyc").write_text("")
    (code / "train.py").write_text("print(1)")
    (code / "run.sh").write_text("#!/bin/sh")
    (code / "run.sh").chmod(0o755)
    first = plan(request(Local={"Code": "./code"}))
    (upload,) = first.uploads
    assert first.request["HyperParameters"] == {"sagemaker_submit_directory": json.dumps(upload.uri)}
    assert upload.uri.startswith("s3://bucket/in/code/")
    assert upload.uri.endswith("/sourcedir.tar.gz")
    assert any("sagemaker_program" in note for note in first.notes)
    with tarfile.open(tmp_path / "scratch" / "sourcedir.tar.gz") as tar:
        assert [(each.name, each.mode) for each in tar] == [("run.sh", 0o755), ("train.py", 0o644)]
    (code / "train.py").touch()
    program = {"sagemaker_program": '"train.py"'}
    again = plan(request(Local={"Code": "./code"}, HyperParameters=program))
    assert again.uploads[0].uri == upload.uri
    assert not any("sagemaker_program" in note for note in again.notes)


def test_code_without_network_is_a_channel(plan: Plan) -> None:
    for channels in ([], [channel("./data")], None):
        members = {} if channels is None else {"InputDataConfig": channels}
        found = plan(request(Local={"Code": "./data"}, EnableNetworkIsolation=True, **members))
        there = '"/opt/ml/input/data/code/sourcedir.tar.gz"'
        assert found.request["HyperParameters"] == {"sagemaker_submit_directory": there}
        assert uris(found)["code"] == found.uploads[-1].uri
    with pytest.raises(RequestInvalidError, match="problem"):
        plan(
            request(Local={"Code": "./data"}, EnableNetworkIsolation=True, InputDataConfig=[channel("./data", "code")])
        )


def test_code_that_is_in_s3_is_left_there_unless_other_code_is_named(plan: Plan) -> None:
    there = {"sagemaker_submit_directory": '"s3://there/sourcedir.tar.gz"'}
    asked = request(Local={"Code": "./data"}, HyperParameters=there)
    found = plan(asked)
    assert found.request["HyperParameters"] == there
    assert found.uploads == ()
    assert len(plan(asked, code_given=True).uploads) == 1


@pytest.mark.parametrize(
    ("data_type", "content", "why"),
    [
        ("ManifestFile", '[{"prefix": "./data"}, "a.txt"]', "names the local path ./data"),
        ("ManifestFile", "{}", "is not a JSON array"),
        ("AugmentedManifestFile", '{"source-ref": "/data/a.txt", "label": 1}\n', "names the local path /data/a.txt"),
        ("AugmentedManifestFile", '{"source-ref": "s3://b/a"}\nno\n', "has no JSON in its line 2"),
    ],
)
def test_a_manifest_that_the_service_could_not_follow_is_refused(
    plan: Plan, tmp_path: Path, data_type: str, content: str, why: str
) -> None:
    (tmp_path / "m").write_text(content)
    with pytest.raises(UploadManifestError, match=why):
        plan(request(InputDataConfig=[_manifest(data_type)]))


def test_a_manifest_of_objects_is_uploaded(plan: Plan, tmp_path: Path) -> None:
    for data_type, content in (
        ("ManifestFile", '[{"prefix": "s3://b/x/"}, "a"]'),
        ("AugmentedManifestFile", '{"source-ref": "s3://b/a"}\n'),
    ):
        (tmp_path / "m").write_text(content)
        found = plan(request(InputDataConfig=[_manifest(data_type)]))
        assert uris(found)["train"] == f"{found.uploads[0].prefix}m"


def _manifest(data_type: str) -> dict[str, Any]:
    if data_type == "ManifestFile":
        return channel("./m", data_type=data_type)
    found = channel("./m", data_type=data_type)
    found["DataSource"]["S3DataSource"]["AttributeNames"] = ["source-ref"]
    return {**found, "InputMode": "Pipe"}


def test_a_channel_without_files_is_refused(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "empty" / "below").mkdir(parents=True)
    with pytest.raises(SourceEmptyError):
        plan(request(InputDataConfig=[channel("./empty")]))
    with pytest.raises(SourceMissingError, match="daat"):
        plan(request(InputDataConfig=[channel("./daat")]))
