import json
import os
import re
from pathlib import Path

import pytest
import yaml

from smlocal.api.job_files import KINDS
from smlocal.api.kinds_of_files import kind_worded
from smlocal.cli.main import run_command_line
from smlocal.cli.request_names import KIND_WORDS


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "My Model"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def init(*words: str) -> str:
    assert run_command_line(["init", *words]) == 0
    assert run_command_line(["validate", "job.yaml"]) == 0
    return Path("job.yaml").read_text(encoding="utf-8")


def test_an_image(capsys: pytest.CaptureFixture[str]) -> None:
    text = init("registry:5000/a/image:1")
    assert yaml.safe_load(text)["AlgorithmSpecification"]["TrainingImage"] == "registry:5000/a/image:1"
    assert "InputDataConfig" not in yaml.safe_load(text)
    assert capsys.readouterr().err == "wrote job.yaml\n  smlocal run job.yaml\nvalid\n"


def test_data_next_to_it_is_a_channel(here: Path) -> None:
    (here / "data").mkdir()
    (here / "data" / "a.csv").write_text("1\n")
    (channel,) = yaml.safe_load(init())["InputDataConfig"]
    assert channel["ChannelName"] == "training"
    assert channel["DataSource"]["S3DataSource"]["S3Uri"] == "./data"


def test_the_commented_part_is_valid_too(here: Path) -> None:
    text = init("image:1")
    (here / "data").mkdir()
    begin = text.index("# TrainingJobName")
    whole = text[:begin] + "".join(
        line.removeprefix("# ").removeprefix("#") + "\n" for line in text[begin:].splitlines()
    )
    (here / "job.yaml").write_text(whole)
    assert run_command_line(["validate", "job.yaml"]) == 0
    assert yaml.safe_load(whole).keys() >= {"TrainingJobName", "RoleArn", "HyperParameters", "InputDataConfig", "Local"}


@pytest.mark.parametrize(
    ("dockerfile", "said"),
    [
        ("FROM a\nCOPY train /usr/bin/train\n", "it needs a program `train`, or an ENTRYPOINT"),
        ('FROM a AS b\nENTRYPOINT ["no"]\nFROM c\nENTRYPOINT ["python", \\\n "run.py"]\n', 'train: ["python",'),
        ("FROM a\nRUN pip install sagemaker-training\n", "sagemaker_program: '\"train.py\"'"),
        ("FROM a\nRUN pip install sagemaker_training==4\nENV SAGEMAKER_PROGRAM=go.py\n", "The toolkit starts go.py"),
        ("FROM a\nENTRYPOINT echo \x07 \x1b\n", "shell form: the program never gets the argument train"),
        ("FROM a\nENTRYPOINT echo \x07 \x1b\n", "  # echo ? ?\n"),
    ],
)
def test_a_folder_with_a_dockerfile(dockerfile: str, said: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    text = init(".")
    assert said in text
    assert yaml.safe_load(text)["AlgorithmSpecification"]["TrainingImage"] == "my-model:latest"
    assert "  docker build --tag my-model:latest .\n  smlocal run job.yaml\n" in capsys.readouterr().err


def test_an_answer_of_the_service(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = {
        "TrainingJobName": "one",
        "TrainingJobArn": "arn:aws:sagemaker:us-east-1:123456789012:training-job/one",
        "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/out/model.tar.gz"},
        "TrainingJobStatus": "Completed",
        "SecondaryStatusTransitions": [],
        "HyperParameters": {"lr": "1e-3", "seed": "010"},
        "AlgorithmSpecification": {"TrainingImage": "image:1", "TrainingInputMode": "File"},
        "RoleArn": "arn:aws:iam::123456789012:role/Trainer",
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30},
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
        "CreationTime": 1.5,
    }
    (here / "answer.json").write_text(json.dumps(answer))
    job = yaml.safe_load(init("answer.json"))
    outside = {"TrainingJobName", "TrainingJobArn", "ModelArtifacts", "TrainingJobStatus", "SecondaryStatusTransitions"}
    request = {name: value for name, value in answer.items() if name not in {*outside, "CreationTime"}}
    assert job == {**request, "Local": {"Region": "us-east-1"}}
    assert "smlocal validate job.yaml" in capsys.readouterr().err


def test_standard_output(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["init", "image:1", "--file", "-"]) == 0
    assert "TrainingImage" in yaml.safe_load(capsys.readouterr().out)["AlgorithmSpecification"]
    assert os.listdir(here) == []


def test_nothing_is_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "job.yaml").symlink_to("nowhere")
    assert run_command_line(["init"]) == 2
    assert "[new-file]" in capsys.readouterr().err
    assert os.listdir(here) == ["job.yaml"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("Not/An Image",), "image-name"),
        (("none.json",), "job-file-missing"),
        (("empty.json",), "not-a-training-job"),
        (("folder",), "init-source"),
        (("fifo",), "init-source"),
        (("image:1", "--file", "none/job.yaml"), "new-file"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], error: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "folder").mkdir()
    os.mkfifo(here / "fifo")
    (here / "empty.json").write_text('{"a": 1}')
    assert run_command_line(["init", *words]) == 2
    assert f"[{error}]" in capsys.readouterr().err
    assert not (here / "job.yaml").exists()


def channels() -> dict[str, str]:
    asked = yaml.safe_load(init()).get("InputDataConfig", [])
    return {each["ChannelName"]: each["DataSource"]["S3DataSource"]["S3Uri"] for each in asked}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["data/a.csv"], {"training": "./data"}),
        (["data/train/a", "data/val/a", "data/notes/a"], {"train": "./data/train", "val": "./data/val"}),
        (["train/a", "validation/a", "test/a"], {"train": "./train", "validation": "./validation", "test": "./test"}),
        (["data/train/a", "train/a", "val/a"], {"train": "./data/train", "val": "./val"}),
        (["data/cats/a", "data/dogs/a"], {"training": "./data"}),
        (["test/a"], {}),
        (["train/model.py", "train/a"], {}),
        (["train"], {}),
        (["train/a", "data/raw"], {"train": "./train"}),
    ],
    ids=str,
)
def test_each_folder_with_data_is_a_channel(files: list[str], found: dict[str, str], here: Path) -> None:
    for each in files:
        (here / each).parent.mkdir(parents=True, exist_ok=True)
        (here / each).write_text("1\n")
    (here / "validation").mkdir(exist_ok=True)  # empty ones are none
    assert channels() == found


def test_every_kind_has_a_file_of_its_own(here: Path) -> None:
    (here / "code").mkdir()
    (here / "code" / "evaluate.py").write_text('print(f"val_loss: {loss}")\nhyperparameters["epochs"]\n')
    (here / "test.csv").write_text("1,2\n")
    assert {kind.word for kind in KINDS} == {*KIND_WORDS, "replicas"}
    for word in KIND_WORDS:
        assert run_command_line(["init", "image:1", "--kind", word]) == 0
        assert run_command_line(["validate", kind_worded(word).file]) == 0
    command = yaml.safe_load(Path("processing.yaml").read_text(encoding="utf-8"))["AppSpecification"]
    assert command["ContainerEntrypoint"] == ["python3", "/opt/ml/processing/code/evaluate.py"]
    search = yaml.safe_load(Path("tuning.yaml").read_text(encoding="utf-8"))
    objective = search["HyperParameterTuningJobConfig"]["HyperParameterTuningJobObjective"]
    assert objective == {"Type": "Minimize", "MetricName": "val_loss"}
    (metric,) = search["TrainingJobDefinition"]["AlgorithmSpecification"]["MetricDefinitions"]
    assert re.search(metric["Regex"], "epoch 3 val_loss: 1.5e-3, done")
    (tuned,) = search["HyperParameterTuningJobConfig"]["ParameterRanges"]["IntegerParameterRanges"]
    assert tuned["Name"] == "epochs"
    source = yaml.safe_load(Path("transform.yaml").read_text(encoding="utf-8"))["TransformInput"]["DataSource"]
    assert source["S3DataSource"]["S3Uri"] == "./test.csv"


def test_a_description_says_its_kind_itself(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "answer.json").write_text("{}")
    assert run_command_line(["init", "answer.json", "--kind", "tuning"]) == 2
    assert "cannot be combined with the description of a job" in capsys.readouterr().err
