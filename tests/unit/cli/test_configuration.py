import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.cli.main import run_command_line

Run = Callable[..., dict[str, Any]]
JOB = """\
AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}
OutputDataConfig: {S3OutputPath: OUTPUT}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a job, two below the configuration file."""
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    (below / "job.yaml").write_text(JOB.replace("OUTPUT", "s3://bucket/out"))
    monkeypatch.chdir(below)
    return tmp_path / "project"


def write(project: Path, text: str, name: str = "smlocal.toml") -> None:
    (project / name).write_text(text)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words]) == 2
    return capsys.readouterr().err


def values(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run_command_line(["config", "show", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["Configuration"]
    return {each["Key"]: each["Value"] for each in document["Values"]}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """The request with `Local` that `smlocal plan` would plan with these flags; planning itself needs an engine."""

    def run(*words: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def planned(job: Any, *, name: str, strict: bool) -> None:
            found.update({**job.document.data, "Strict": strict, "Name": name})
            raise SystemExit

        monkeypatch.setattr("smlocal.api.run.plan_only", planned)
        with pytest.raises(SystemExit):
            run_command_line(["plan", *words])
        return found

    return run


def test_the_nearest_file_gives_defaults(project: Path, read: Run) -> None:
    write(project.parent, 'output = "elsewhere"')
    write(project, 'output = "./artifacts"\npublish = true\n[plan]\nmax-run = 60\n[run]\nmax-run = 5\n')
    job = read("job.yaml")
    assert job["Local"] == {"Output": str(project / "artifacts"), "Publish": True}
    assert job["StoppingCondition"] == {"MaxRuntimeInSeconds": 60}


def test_a_table_of_pyproject_and_none_in_another(project: Path, read: Run) -> None:
    write(project, '[tool.smlocal]\nstaging = "copy"\n', "pyproject.toml")
    write(project / "a", '[project]\nname = "smlocal-user"\n[tool.other]\nstaging = 1\n', "pyproject.toml")
    assert read("job.yaml")["Local"] == {"Staging": "copy"}
    write(project, "strict = true\n")
    assert "Local" not in read("job.yaml", "--name", "one", "--role", "arn:aws:iam::123456789012:role/Trainer")


def test_flags_and_the_job_file_come_first(project: Path, read: Run) -> None:
    write(
        project,
        'output = "by-file"\ninstance-type = "ml.c5.large"\nhyperparameter = ["a=file", "b=file"]\nstaging = "copy"\n'
        'source = ["s3://one=data", "s3://two=data"]\nrole = "arn:aws:iam::123456789012:role/Other"\n',
    )
    Path("job.yaml").write_text(
        JOB.replace("OUTPUT", "./own") + "HyperParameters: {a: own}\nLocal: {Sources: {s3://one: ./one}}\n"
    )
    job = read("job.yaml", "--staging", "overlay")
    assert job["OutputDataConfig"] == {"S3OutputPath": "./own"}
    assert job["ResourceConfig"]["InstanceType"] == "ml.m5.large"
    assert job["HyperParameters"] == {"a": "own", "b": "file"}
    assert job["Local"] == {"Staging": "overlay", "Sources": {"s3://one": "./one", "s3://two": str(project / "data")}}
    assert job["RoleArn"].endswith("Other")


def test_members_are_set_by_their_paths_and_limits_by_flags(read: Run) -> None:
    words = ("--set", "ResourceConfig.VolumeSizeInGB=50", "--set", "HyperParameters.lr=0.1", "--set", "Local.Cpus=0.5")
    job = read("job.yaml", *words, "--memory", "512m", "--enforce-limits", "--set", "ResourceConfig.InstanceCount=2")
    assert job["ResourceConfig"] == {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 50}
    assert job["HyperParameters"] == {"lr": "0.1"}
    assert job["Local"] == {"Cpus": 0.5, "Memory": "512m", "EnforceInstanceLimits": True}
    other = read("job.yaml", "--set", "ResourceConfig.InstanceCount=2", "--instance-count", "3")
    assert other["ResourceConfig"]["InstanceCount"] == 3
    removed = read("job.yaml", "--set", "StoppingCondition.MaxRuntimeInSeconds=9", "--set", "StoppingCondition=null")
    assert removed["StoppingCondition"] is None


def test_members_of_the_file_are_defaults(project: Path, read: Run) -> None:
    write(
        project,
        'set = ["ResourceConfig.InstanceCount=4", "ResourceConfig.VolumeSizeInGB=9"]\n'
        'memory = "1g"\nenforce-limits = true\n',
    )
    job = read("job.yaml")
    assert job["ResourceConfig"] == {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 9}
    assert job["Local"] == {"Memory": "1g", "EnforceInstanceLimits": True}
    replaced = read("job.yaml", "--set", "ResourceConfig.InstanceCount=2")
    assert replaced["ResourceConfig"] == {"InstanceType": "ml.m5.large", "InstanceCount": 2}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "x"), "--set x: write PATH=VALUE"),
        (("--set", "ResourceConfig.InstanceCont=2"), "did you mean InstanceCount?"),
        (("--set", "A..B=2"), "'A..B' is not the path of a member"),
        (("--memory", "much"), "Local.Memory"),
    ],
)
def test_what_is_set_is_checked(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in refused(capsys, "plan", "job.yaml", *words)


def test_members_of_a_job_of_replicas(project: Path, read: Run) -> None:
    (project / "a" / "b" / "census.yaml").write_text(
        "jobId: census\ntrainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4, region: europe-west4,\n"
        "  masterConfig: {imageUri: image}}\n"
    )
    job = read("census.yaml", "--set", "trainingInput.region=us-east1", "--memory", "1g", "--enforce-limits")
    assert job["trainingInput"]["region"] == "us-east1"
    assert job["Local"] == {"Memory": "1g", "EnforceInstanceLimits": True}


def test_without_a_job_file(project: Path, read: Run) -> None:
    write(project, 'image = "image:1"\noutput = "./out"\nchannel = ["train=./data", "far=s3://bucket/x"]\n')
    (project / "data").mkdir()
    job = read()
    assert job["AlgorithmSpecification"]["TrainingImage"] == "image:1"
    assert job["OutputDataConfig"] == {"S3OutputPath": str(project / "out")}
    uris = [each["DataSource"]["S3DataSource"]["S3Uri"] for each in job["InputDataConfig"]]
    assert uris == [str(project / "data"), "s3://bucket/x"]


def test_an_error_names_the_file_and_not_the_command_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "max-run = 0\n")
    said = refused(capsys, "plan", "job.yaml")
    assert "1 problem in the configuration file" in said
    assert "configuration file   Value '0' at 'stoppingCondition.maxRuntimeInSeconds'" in said


def test_show_has_each_value_with_its_origin(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, 'output = "x"\n[jobs]\nlimit = 3\n')
    assert values(capsys) == {"output": str(project / "x"), "jobs.limit": 3}
    assert run_command_line(["config", "show"]) == 0
    rows = capsys.readouterr().out.splitlines()
    commands = ["run,", "plan,", "rerun,", "pack,", "shell,", "reproduce"]
    assert rows[1].split()[-7:] == [str(project / "smlocal.toml"), *commands]
    assert rows[2].split() == ["jobs.limit", "3", str(project / "smlocal.toml"), "jobs"]


def test_show_without_a_file(
    monkeypatch: pytest.MonkeyPatch, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "limit = 3\n")
    monkeypatch.setenv("SMLOCAL_CONFIG", "")
    assert run_command_line(["config", "show"]) == 0
    assert "No configuration file" in capsys.readouterr().err


def test_a_flag_that_is_named_as_a_command(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "publish = true\n[report]\nhtml = 'page.html'\n")
    assert values(capsys) == {"publish": True, "report.html": str(project / "page.html")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ouput = 'x'", "ouput is not a flag of any command; did you mean output?"),
        ("[rnu]\nquiet = true", "[rnu] is not a command; did you mean run?"),
        ("[jobs]\nlimt = 1", "jobs.limt is not a flag of smlocal jobs; did you mean limit?"),
        ("run = true", "run is not a flag of any command"),
        ("all = 1", "all must be true or false"),
        ("limit = '3'", "limit must be a whole number"),
        ("limit = true", "limit must be a whole number"),
        ("limit = 0", "limit is not valid: 0 is not in the range x>=1"),
    ],
)
def test_a_key_or_value_that_is_wrong(text: str, said: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, text)
    shown = refused(capsys, "jobs")
    assert said in shown
    assert "[config-invalid]" in shown
    assert run_command_line(["jobs", "--help"]) == 0


@pytest.mark.parametrize("text", ["output = ", "a = 1\na = 2", "x = " + "[" * 5000])
def test_a_file_that_does_not_parse(text: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, text)
    assert "[config-syntax]" in refused(capsys, "jobs")


def test_bytes_that_are_no_text_and_a_file_too_large(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "smlocal.toml").write_bytes(b"output = '\xff'")
    assert "[config-syntax]" in refused(capsys, "jobs")
    (project / "smlocal.toml").write_bytes(b"#" * (2 << 20))
    assert "too large" in refused(capsys, "jobs")


def test_files_that_cannot_be_read(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "smlocal.toml").symlink_to("smlocal.toml")
    assert "[config-unreadable]" in refused(capsys, "jobs")
    (project / "smlocal.toml").unlink()
    os.mkfifo(project / "smlocal.toml")
    assert "is not a regular file" in refused(capsys, "jobs")
    monkeypatch.setenv("SMLOCAL_CONFIG", "none.toml")
    assert "none.toml does not exist" in refused(capsys, "jobs")
    monkeypatch.setenv("SMLOCAL_CONFIG", "job.yaml")
    assert "[config-syntax]" in refused(capsys, "jobs")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_folder_above_that_may_not_be_searched(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project.chmod(0o000)
    try:
        assert "[config-unreadable]" in refused(capsys, "jobs")
    finally:
        project.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_in_a_folder_for_everybody(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "limit = 3\n")
    os.chown(project / "smlocal.toml", 12345, 12345)
    assert run_command_line(["jobs"]) == 0
    project.chmod(0o1777)
    assert "belongs to another user" in refused(capsys, "jobs")


def test_a_current_folder_that_is_gone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = project / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert run_command_line(["jobs"]) == 0
    assert "No jobs yet" in capsys.readouterr().err
