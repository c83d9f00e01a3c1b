"""An image, a job file, a folder and a Dockerfile where another of them belongs."""

from pathlib import Path

import pytest

from smlocal.cli.main import run_command_line


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "My Code").mkdir()
    (tmp_path / "My Code" / "Dockerfile").write_text("FROM scratch\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("command", ["run", "plan"])
def test_an_image_in_the_place_of_a_job_file(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([command, "fresh-good:1"]) == 2
    said = capsys.readouterr().err
    assert "[job-file-missing]" in said
    assert f"If fresh-good:1 is an image: smlocal {command} --image fresh-good:1" in said


@pytest.mark.parametrize("path", ["nope.yaml", "./nope", "My Code"])
def test_what_is_no_image(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", path]) == 2
    assert "--image" not in capsys.readouterr().err


@pytest.mark.parametrize("subject", ["My Code", "./My Code", "My Code/Dockerfile"])
def test_check_wants_a_built_image(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["check", subject]) == 2
    said = capsys.readouterr().err
    assert "check takes an image or a job file" in said
    assert "docker build -t my-code:latest " in said
    assert "smlocal check my-code:latest" in said


def test_an_image_beside_an_image_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["check", "my-image", "--image", "other"]) == 2
    assert "--image takes the place of the image of a job file" in capsys.readouterr().err
