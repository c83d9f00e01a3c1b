"""The plan of `smlocal submit` for a processing job."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.test_submission import BEGAN, Said, Scripted

from smlocal.errors import RequestInvalidError
from smlocal.errors.of_commands import ImageNotInEcrError
from smlocal.jobfile.document import Document
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.kinds import PROCESSING
from smlocal.service.submission import Followed
from smlocal.service.submit_checks import cost_of
from smlocal.service.submit_plan import SubmitOptions, SubmitPlan, complete_processing, plan_submit

ECR = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"
ROOT = "/opt/ml/processing"


def request(**members: Any) -> dict[str, Any]:
    return {
        "ProcessingJobName": "split",
        "RoleArn": "arn:aws:iam::123456789012:role/Trainer",
        "AppSpecification": {"ImageUri": ECR},
        "ProcessingInputs": [
            {"InputName": "my data", "S3Input": {"S3Uri": "./data", "LocalPath": f"{ROOT}/in"}},
            {"InputName": "there", "S3Input": {"S3Uri": "s3://there/x", "LocalPath": f"{ROOT}/there"}},
        ],
        "ProcessingOutputConfig": {
            "Outputs": [
                {"OutputName": "train", "S3Output": {"S3Uri": "./out", "LocalPath": f"{ROOT}/train"}},
                {"OutputName": "kept", "S3Output": {"S3Uri": "s3://kept/x", "LocalPath": f"{ROOT}/kept"}},
            ]
        },
        "ProcessingResources": {
            "ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 10}
        },
        **members,
    }


def plan(tmp_path: Path, asked: dict[str, Any], *, output_to: str | None = "s3://bucket/out/") -> SubmitPlan:
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "a.txt").write_text("one")
    document = Document(json.loads(json.dumps(asked)), name="job.yaml", directory=str(tmp_path))
    complete_processing(document, output_to=output_to)
    return plan_submit(document, SubmitOptions(upload_to="s3://bucket/in", region="eu-west-1"))


def test_local_inputs_and_outputs_become_locations(tmp_path: Path) -> None:
    found = plan(tmp_path, request(Local={"AllowCpu": True}))
    (upload,) = found.uploads
    first, second = (each["S3Input"] for each in found.request["ProcessingInputs"])
    assert upload.subject == 'input "input-1"'
    assert first == {"S3Uri": upload.uri, "LocalPath": f"{ROOT}/in", "S3DataType": "S3Prefix"}
    assert upload.uri.startswith("s3://bucket/in/input-1/")
    assert second["S3Uri"] == "s3://there/x"
    outputs = [each["S3Output"] for each in found.request["ProcessingOutputConfig"]["Outputs"]]
    assert [each["S3Uri"] for each in outputs] == ["s3://bucket/out/split/output/train", "s3://kept/x"]
    assert {each["S3UploadMode"] for each in outputs} == {"EndOfJob"}
    assert "Local" not in found.request
    cost = cost_of(found.request)
    assert cost is not None
    assert cost.sentence == "2 × ml.m5.large for at most 24 h: 48 instance-hours"


def test_a_folder_for_a_location_is_uploaded_only_if_asked_for(tmp_path: Path) -> None:
    asked = request(Local={"Sources": {"s3://there/": "./data"}})
    found = plan(tmp_path, asked)
    assert found.notes[0].startswith('input "there" is read from s3://there/x, and not from ./data')


def test_everything_that_the_service_would_refuse_is_one_error_with_lines(tmp_path: Path) -> None:
    text = """\
ProcessingJobName: bad_name
AppSpecification: {ImageUri: local-image}
ProcessingInputs:
  - InputName: data
    S3Input: {S3Uri: ./none, LocalPath: /elsewhere, S3DataType: S3Prefix}
ProcessingOutputConfig:
  Outputs:
    - OutputName: train
      S3Output: {S3Uri: ./out, LocalPath: /opt/ml/processing/train, S3UploadMode: EndOfJob}
"""
    document = load_document(text, name="job.yaml", directory=str(tmp_path))
    with pytest.raises(RequestInvalidError) as caught:
        plan_submit(document, SubmitOptions(upload_to="s3://bucket/in"))
    lines = "\n".join(caught.value.details)
    for part in ("job.yaml:1   Value 'bad_name' at", "local-image is not in Amazon ECR", "./out", "'roleArn'"):
        assert part in lines, lines
    assert [each.partition(":  ")[2].partition(" ")[0] for each in caught.value.remedy] == ["--role", "--output-to"]


def test_an_image_of_this_machine_is_refused_with_what_pushes_it(tmp_path: Path) -> None:
    with pytest.raises(ImageNotInEcrError) as caught:
        plan(tmp_path, request(AppSpecification={"ImageUri": "held:1"}))
    assert caught.value.details == ("job.yaml   ImageUri: held:1",)
    remedy = "\n".join(caught.value.remedy)
    assert "docker tag held:1 ACCOUNT.dkr.ecr.eu-west-1.amazonaws.com/held:1" in remedy
    assert "TrainingImageConfig" not in remedy


class Processing(Scripted):
    """The same for a processing job."""

    def __init__(self, answers: list[Any], events: list[Any]) -> None:
        super().__init__(answers, events)
        self.kind = PROCESSING


def answer(status: str = "InProgress", **times: int) -> dict[str, Any]:
    return {
        "ProcessingJobStatus": status,
        "ProcessingResources": {"ClusterConfig": {"InstanceCount": 2}},
        "CreationTime": BEGAN,
        **{f"Processing{name}Time": BEGAN + timedelta(seconds=second) for name, second in times.items()},
    }


def test_it_is_followed_by_its_times() -> None:
    said = Said()
    answers = [answer(), answer(Start=2), answer("Completed", Start=2, End=5)]
    followed = Followed(Processing(answers, [[], ["a"], ["b"], []]), "one", said, pause=0)
    assert followed.follow(lambda: False) is not None
    assert said.lines_ == [
        "… Starting",
        "✔ Starting 2",
        "● Processing",
        "algo-1: a",
        "algo-1: b",
        "✔ Processing 3",
    ]


def test_the_phase_that_failed_is_marked() -> None:
    for times, reason, failed in (
        ({"Start": 2, "End": 5}, "AlgorithmError: , exit code: 1", "✗ Processing 3"),
        ({"End": 5}, "ClientError: no data", "✗ Starting 5"),
    ):
        said = Said()
        ended = {
            **answer("Failed", **times),
            "FailureReason": reason,
            "LastModifiedTime": answer(End=5)["ProcessingEndTime"],
        }
        Followed(Processing([ended], []), "one", said, pause=0).follow(lambda: False)
        assert said.lines_[-1] == failed
