"""`smlocal fetch FILE`, and descriptions of jobs in place of job files."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from smlocal.cli.main import run_command_line

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:training-job/"


def described(name: str = "held-tree", **more: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": name,
        "TrainingJobArn": f"{ARN}{name}",
        "TrainingJobStatus": "Failed",
        "SecondaryStatus": "Failed",
        "AlgorithmSpecification": {"TrainingImage": "held:1", "TrainingInputMode": "File"},
        "OutputDataConfig": {"KmsKeyId": "", "S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        **more,
    }


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(answer: Any, name: str = "answer.json") -> None:
    Path(name).write_text(json.dumps(answer))


def test_a_saved_answer(capsys: pytest.CaptureFixture[str]) -> None:
    save(described(NewestConfig={"Level": 2}, TrainingJobStatus="InProgress", VpcConfig={"Subnets": ["subnet-1"]}))
    assert run_command_line(["fetch", "answer.json"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "wrote job.yaml",
        "! Tags are not in the answer: ListTags has them.",
        "! held-tree had not ended when it was described: InProgress",
        "! not known to this version of smlocal, and kept as comments: NewestConfig",
        "! containers are on a network of this machine: servers that only that VPC reaches are not reachable",
        "  smlocal plan job.yaml",
        "  smlocal run job.yaml",
    ]
    assert yaml.safe_load(Path("job.yaml").read_text())["Local"] == {"Region": "eu-west-1"}


def test_from_standard_input_to_standard_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    piped = io.TextIOWrapper(io.BytesIO(json.dumps(described()).encode()))
    monkeypatch.setattr(sys, "stdin", piped)
    assert run_command_line(["fetch", "-", "-o", "-"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["AlgorithmSpecification"]["TrainingImage"] == "held:1"
    assert list(here.iterdir()) == []
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"ProcessingJobName": "x"}')))
    assert run_command_line(["fetch", "-"]) == 2
    said = capsys.readouterr().err
    assert "stdin is not the description of a training job" in said
    assert ">job.json\n" in said


def test_one_job_of_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    save([described("one"), described("two", HyperParameters={"a": "b"})], "jobs.json")
    assert run_command_line(["fetch", "jobs.json"]) == 2
    assert "[not-a-training-job]" in capsys.readouterr().err
    assert run_command_line(["fetch", "jobs.json", "--job", "two"]) == 0
    assert yaml.safe_load(Path("job.yaml").read_text())["HyperParameters"] == {"a": "b"}


def test_nothing_is_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(described())
    (here / "job.yaml").write_text("mine")
    assert run_command_line(["fetch", "answer.json"]) == 2
    assert "[new-file]" in capsys.readouterr().err
    assert (here / "job.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("none.json",), "job-file-missing"),
        (("./folder",), "job-file-missing"),
        (("text.json",), "job-file-syntax"),
        (("python.json",), "job-file-syntax"),
        (("processing.json",), "not-a-training-job"),
        (("answer.json", "-o", "none/job.yaml"), "new-file"),
        (("held tree",), "usage"),
        (("held-tree", "--job", "a"), "usage"),
        (("held-tree", "--region", "a b"), "region-name"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], error: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(described())
    save({"ProcessingJobName": "a", "ProcessingJobArn": "arn"}, "processing.json")
    (here / "folder").mkdir()
    (here / "text.json").write_text("not JSON")
    (here / "python.json").write_text("{'TrainingJobName': 'a', 'CreationTime': datetime.datetime(2026, 1, 1)}")
    assert run_command_line(["fetch", *words]) != 0
    said = capsys.readouterr().err
    assert f"[{error}]" in said
    assert ("json.dump(answer, file, default=str)" in said) == (words[0] == "python.json")
    assert not (here / "job.yaml").exists()


def test_a_description_is_valid_in_place_of_a_job_file(capsys: pytest.CaptureFixture[str]) -> None:
    save(described(NewestConfig=1))
    assert run_command_line(["validate", "answer.json"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "! answer.json describes the training job held-tree (Failed, eu-west-1): its request is used",
        "! left out, because this version of smlocal does not know it: NewestConfig",
        "valid",
    ]


def test_mistakes_in_a_description_are_found_at_their_lines(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    text = json.dumps(described(StoppingCondition={"MaxRuntimeInSeconds": -1}), indent=1)
    (here / "answer.json").write_text(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "MaxRuntime" in each)
    assert run_command_line(["validate", "answer.json"]) == 2
    assert f"answer.json:{line} " in capsys.readouterr().err


def test_strictly_a_description_has_no_settings_of_this_machine() -> None:
    save(described(RoleArn="arn:aws:iam::123456789012:role/Trainer"))
    assert run_command_line(["validate", "--strict", "answer.json"]) == 0


def test_an_answer_of_another_operation_is_refused_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    save({"TrainingJobSummaries": [{"TrainingJobName": "one"}]})
    assert run_command_line(["validate", "answer.json"]) == 2
    assert "answer.json is an answer of ListTrainingJobs: it has only names and times" in capsys.readouterr().err


def test_a_request_for_airflow_is_valid_too(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    request = {key: value for key, value in described().items() if not key.startswith(("TrainingJob", "Secondary"))}
    (here / "src").mkdir()
    save({**request, "S3Operations": {"S3Upload": [{"Path": "src", "Bucket": "b", "Key": "k", "Tar": True}]}})
    assert run_command_line(["validate", "answer.json"]) == 0
    assert "! answer.json is a request for Airflow: its uploads are not made" in capsys.readouterr().err


def test_ordinary_job_files_do_not_load_the_room(here: Path) -> None:
    request = {key: value for key, value in described().items() if not key.startswith(("TrainingJob", "Secondary"))}
    save(request, "job.json")
    code = (
        "import sys; from smlocal.cli.main import run_command_line; "
        "code = run_command_line(['validate', 'job.json']); "
        "sys.exit(code or any(name.startswith('smlocal.service') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=here, check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("command", ["fetch", "reproduce"])
def test_a_job_of_this_machine_is_said_to_be_here(
    command: str, remember: Any, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(here))
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(here / "none"))
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    remember("held-tree")
    remember("held_tree")
    expected = [
        "  To see it:  smlocal describe held-tree",
        "  To run its request again:  smlocal rerun held-tree",
        (
            "  For its job file:  smlocal describe held-tree --json >held-tree.json && "
            "smlocal fetch held-tree.json --allow-local-paths"
        ),
    ]
    # A job of the service may have this name, too.
    assert run_command_line([command, "held-tree"]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert "AWS credentials" in lines[0]
    at = lines.index("  held-tree is a job of this machine:")
    assert lines[at + 1 : at + 4] == expected
    assert run_command_line([command, "held_tree"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("error: held_tree is a job of this machine, not of the service ")
    assert lines[1:4] == [each.replace("held-tree", "held_tree") for each in expected]
    assert run_command_line([command, "held-trunk"]) == 3
    assert "a job of this machine" not in capsys.readouterr().err
