"""Paths of this machine in descriptions of jobs: no command obeys them, unless it is a job of this machine."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from smlocal.cli.main import run_command_line
from smlocal.jobs.store.jobs import Store

ARN = "arn:aws:sagemaker:eu-west-1:000000000000:training-job/held-tree"
RULE = {"RuleConfigurationName": "r", "RuleEvaluatorImage": "image"}


def channel(uri: str) -> dict[str, Any]:
    return {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}}


def described(**more: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": "held-tree",
        "TrainingJobArn": ARN,
        "TrainingJobStatus": "Failed",
        "SecondaryStatus": "Failed",
        "RoleArn": "arn:aws:iam::123456789012:role/Trainer",
        "AlgorithmSpecification": {"TrainingImage": "held:1", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        **more,
    }


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no-engine.sock")
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)  # a shell asks it whether it is a terminal
        yield folder


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., None]:
    """Puts a job with this request into the home. It keeps its supervisor: nobody takes it over."""
    held = []

    def make(data: dict[str, Any], *, arn: str = ARN, artifacts: dict[str, Any] | None = None) -> None:
        documents = {
            "request": {},
            "local": {"Artifacts": artifacts or {}},
            "job": {"Data": data, "File": "job.yaml", "Directory": "/started/here"},
        }
        with Store.open(str(tmp_path / "home")) as store:
            made = store.create(
                "held-tree", run_id="0" * 8, created=1.0, documents=documents, supervisor_pid=os.getpid(), arn=arn
            )
            held.append(made)

    return make


def save(answer: Any, name: str = "answer.json") -> None:
    Path(name).write_text(json.dumps(answer, indent=1))


PLACES: dict[str, dict[str, Any]] = {
    "InputDataConfig[0].DataSource.S3DataSource.S3Uri": {"InputDataConfig": [channel("/etc")]},
    "OutputDataConfig.S3OutputPath": {"OutputDataConfig": {"S3OutputPath": "/home/me"}},
    "CheckpointConfig.S3Uri": {"CheckpointConfig": {"S3Uri": "./checkpoints"}},
    "TensorBoardOutputConfig.S3OutputPath": {"TensorBoardOutputConfig": {"S3OutputPath": "file:///home/me"}},
    "DebugHookConfig.S3OutputPath": {"DebugHookConfig": {"S3OutputPath": "/home/me"}},
    "ProfilerConfig.S3OutputPath": {"ProfilerConfig": {"S3OutputPath": "/home/me"}},
    "DebugRuleConfigurations[0].RuleParameters.source_s3_uri": {
        "DebugRuleConfigurations": [{**RULE, "RuleParameters": {"source_s3_uri": "/etc"}}]
    },
    "DebugRuleConfigurations[0].RuleParameters.other_trial_0": {
        "DebugRuleConfigurations": [{**RULE, "RuleParameters": {"other_trial_0": "~/x", "threshold": "1"}}]
    },
}
COMMANDS = {
    "run": ("run", "answer.json"),
    "plan": ("plan", "answer.json"),
    "validate": ("validate", "answer.json"),
    "check": ("check", "answer.json"),
    "shell": ("shell", "answer.json"),
    "reproduce": ("reproduce", "answer.json"),
    "fetch": ("fetch", "answer.json"),
    "init": ("init", "answer.json"),
    "submit": ("submit", "answer.json", "--upload-to", "s3://b/p", "--dry-run"),
}


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("place", PLACES)
def test_no_command_takes_a_local_path_of_a_description(
    words: tuple[str, ...], place: str, here: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    save(described(**PLACES[place]))
    assert run_command_line(list(words)) == 2
    said = capfd.readouterr().err
    assert "[path-in-description]" in said
    assert f"   {place}: " in said
    assert [path.name for path in here.iterdir()] == ["answer.json"]
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("place", PLACES)
def test_a_job_file_may_have_them(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    request = {
        key: value for key, value in described(**PLACES[place]).items() if "Status" not in key and "Arn" not in key
    }
    save(request, "job.json")
    assert run_command_line(["validate", "job.json"]) == 0
    assert run_command_line(["fetch", "job.json"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "form",
    [
        lambda job: {"Results": [{"TrainingJob": job}]},
        lambda job: {"detail": job, "detail-type": "SageMaker Training Job State Change"},
        lambda job: {"TrainingJob": job},
        lambda job: {"TrainingJob": {key: value for key, value in job.items() if key != "TrainingJobArn"}},
        lambda job: {"detail": {}, **{key: value for key, value in job.items() if key != "TrainingJobArn"}},
        lambda job: {**job, "InputDataConfig": None, "Local": {"Request": {"InputDataConfig": job["InputDataConfig"]}}},
    ],
)
def test_every_form_of_an_answer(form: Callable[[Any], Any], capsys: pytest.CaptureFixture[str]) -> None:
    save(form(described(InputDataConfig=[channel("/etc")])))
    assert run_command_line(["fetch", "answer.json"]) == 2
    assert run_command_line(["validate", "answer.json"]) == 2
    assert capsys.readouterr().err.count("[path-in-description]") == 2


@pytest.mark.parametrize("wrapped", [False, True])
def test_settings_of_this_machine_in_an_answer_are_not_used(
    wrapped: bool, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"Code": "/etc", "Output": "/home/me", "Sources": {"s3://b": "/etc"}, "Credentials": "inherit"}
    uploads = {"S3Upload": [{"Path": "/home/me/.ssh", "Bucket": "b", "Key": "k", "Tar": True}]}
    answer = described(Local=settings, S3Operations=uploads)
    if wrapped:
        del answer["TrainingJobArn"]
    save({"TrainingJob": answer} if wrapped else answer)
    assert run_command_line(["fetch", "answer.json"]) == 0
    capsys.readouterr()
    written = yaml.safe_load((here / "job.yaml").read_text())
    assert written.get("Local", {}) == ({} if wrapped else {"Region": "eu-west-1"})


def test_where_the_code_of_a_request_for_airflow_is_taken_from(capsys: pytest.CaptureFixture[str]) -> None:
    request = {key: value for key, value in described().items() if "Status" not in key and "TrainingJob" not in key}
    save({**request, "S3Operations": {"S3Upload": [{"Path": "./code", "Bucket": "b", "Key": "k", "Tar": True}]}})
    assert run_command_line(["validate", "answer.json"]) == 0
    said = capsys.readouterr().err
    assert (
        "! answer.json is a request for Airflow: its uploads are not made, and its code is taken from ./code\n" in said
    )


def test_a_job_of_this_machine_may_name_the_paths_that_it_was_made_with(
    own: Callable[..., None], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = described(InputDataConfig=[channel("/my/data")])
    own({"InputDataConfig": [channel("/my/data")]})
    save(answer)
    assert run_command_line(["fetch", "answer.json"]) == 2
    said = capsys.readouterr().err
    assert "smlocal rerun held-tree" in said
    assert "--allow-local-paths" in said
    for words in (["fetch", "answer.json"], ["validate", "answer.json"]):
        assert run_command_line([*words, "--allow-local-paths"]) == 0
    assert "/my/data" in (here / "job.yaml").read_text()
    capsys.readouterr()


@pytest.mark.parametrize(
    ("recorded", "arn"),
    [
        ({"InputDataConfig": [channel("/my/other")]}, ARN),
        ({"CheckpointConfig": {"S3Uri": "/my/data"}}, ARN),
        ({"InputDataConfig": [channel("/my/data")]}, ARN.replace("eu-west-1", "us-east-1")),
        ({"InputDataConfig": [channel("/my/data")]}, ""),
    ],
)
def test_a_description_that_only_says_so_may_not(
    recorded: dict[str, Any], arn: str, own: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    own(recorded, arn=arn)
    save(described(InputDataConfig=[channel("/my/data")]))
    assert run_command_line(["fetch", "answer.json", "--allow-local-paths"]) == 2
    assert "[path-in-description]" in capsys.readouterr().err


def test_compare_reads_artifacts_only_where_a_job_of_this_machine_has_them(
    own: Callable[..., None], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("mine", "other"):
        (here / name).mkdir()
        (here / name / "weights").write_text(name)
    artifacts = {"Model": str(here / "mine"), "Output": None}
    save(described(Local={"Artifacts": artifacts}), "one.json")
    save(described(Local={"Artifacts": {**artifacts, "Model": str(here / "other")}}), "two.json")

    def compared(*options: str) -> str:
        run_command_line(["compare", "one.json", "two.json", *options])
        return capsys.readouterr().out

    own({}, artifacts=artifacts)
    assert "two.json names paths that are not those of a job here: --allow-local-paths reads them" in compared()
    assert "weights" in compared("--allow-local-paths")
