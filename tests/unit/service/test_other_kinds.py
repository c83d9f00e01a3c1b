"""What is not a training job is refused by the commands that know nothing else, and named."""

import json
from pathlib import Path
from typing import Any

import pytest

from smlocal.cli.main import run_command_line
from smlocal.sagemaker.kinds import ENDPOINT
from smlocal.service.job_kind import other_kind

DOCUMENTS: dict[str, dict[str, Any]] = {
    "an endpoint": {"EndpointName": "e", "EndpointArn": "arn", "EndpointStatus": "InService"},
    "a transform job": {"TransformJobName": "t", "TransformJobArn": "arn"},
    "a processing job": {"ProcessingJobName": "p", "AppSpecification": {"ImageUri": "i"}},
    "a tuning job": {"HyperParameterTuningJobName": "h", "TrainingJobDefinition": {}},
}


COMPARED, REPRODUCED = ("compare", "other.json", "other.json"), ("reproduce", "other.json")


@pytest.mark.parametrize(
    ("kind", "words", "error"),
    [
        *((kind, COMPARED, "kind-not-compared") for kind in DOCUMENTS),
        *((kind, REPRODUCED, "kind-not-reproduced") for kind in DOCUMENTS if kind != "a processing job"),
    ],
)
def test_it_is_refused(
    words: tuple[str, ...],
    error: str,
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.json").write_text(json.dumps(DOCUMENTS[kind]))
    assert run_command_line([*words]) == 2
    said = capsys.readouterr().err
    assert f"other.json is {kind}: smlocal {words[0]} " in " ".join(said.split())
    assert f"[{error}]" in said


def test_a_model_file_is_an_endpoint_and_a_training_job_is_nothing_else(answer: dict[str, Any]) -> None:
    assert other_kind({"PrimaryContainer": {"Image": "i"}}) is ENDPOINT
    assert other_kind({"EndpointConfigName": "c", "ProductionVariants": []}) is ENDPOINT
    assert other_kind(answer) is None
    assert other_kind({"AlgorithmSpecification": {}, "Containers": []}) is None
