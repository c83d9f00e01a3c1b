"""No error shows a secret of the request it is about, and a command to paste is in one line."""

import json
from pathlib import Path

import pytest

from smlocal.cli.main import run_command_line
from smlocal.cli.terminal.errors import error_document, show_error
from smlocal.errors import SmlocalError

REST = """
AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}
"""
BAD = {
    "a line that is no YAML": 'HyperParameters:\n  db_password: hunter2: "x\n',
    "a URL that is refused": REST + "Local: {Endpoints: {s3: 'ftp://me:hunter2@h'}}",
    "a URL as a path": REST + "CheckpointConfig: {S3Uri: 'postgres://me:hunter2@h/d'}",
    "too long an argument": REST.replace("File}", f"File, ContainerArguments: [--token={'hunter2' * 40}]}}"),
}


@pytest.mark.parametrize("flags", [(), ("--json",), ("--debug",)])
@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_an_error_shows_no_secret(
    text: str, flags: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.yaml").write_text(text)
    before = [flag for flag in flags if flag == "--debug"]
    after = [flag for flag in flags if flag != "--debug"]
    assert run_command_line([*before, "plan", str(tmp_path / "job.yaml"), *after]) == 2
    said = capsys.readouterr()
    assert "•••" in said.err
    assert "hunter2" not in said.err + said.out
    assert ("Traceback" in said.err) == bool(before)


def test_nor_does_one_about_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.json").write_text('{"Environment": {"API_TOKEN": "hunter2" "A": "1"}}')
    assert run_command_line(["plan", str(tmp_path / "job.json")]) == 2
    said = capsys.readouterr().err
    assert '"API_TOKEN": •••' in said
    assert "hunter2" not in said


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_nor_does_the_doctor(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://me:hunter2@far")
    assert run_command_line(["doctor", *flags]) == 3
    said = capsys.readouterr()
    assert "ssh://me:" in said.out
    assert "hunter2" not in said.out + said.err


def test_a_command_to_paste_is_last_and_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smlocal.cli.terminal.errors.width_of", lambda _: 40)
    error = SmlocalError("no data", remedy=["Give it."])
    error.command = f"smlocal reproduce job.json --source s3://bucket/{'data/' * 20}=./data"
    show_error(error, debug=False, as_json=True)
    printed = capsys.readouterr()
    assert printed.err.splitlines()[-1] == f"  next      {error.command}"
    assert json.loads(printed.out)["Error"]["Command"] == error.command
    assert "Command" not in error_document(SmlocalError("no data"))
