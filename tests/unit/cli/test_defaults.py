"""What a command is about if it is told nothing: the newest job, and the job file in this folder."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.doors.cli.terminal import Terminal
from tests.kit import Run

from smlocal.cli.main import run_command_line

Remember = Callable[..., None]
JOB = """
AlgorithmSpecification: {TrainingImage: "image:1", TrainingInputMode: File}
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    return folder


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "words",
    [("describe",), ("describe", "--json"), ("logs",), ("wait",), ("metrics",), ("rules", "show")],
    ids=" ".join,
)
def test_the_newest_job(words: tuple[str, ...], remember: Remember, smlocal: Run) -> None:
    remember("older", reason="AlgorithmError")
    remember("newer")
    done, named = smlocal(*words), smlocal(*words, "newer")
    assert done.returncode == 0
    assert done.stdout == named.stdout
    assert done.stderr == f"newest job: newer\n{named.stderr}"


def test_a_shell_is_for_the_newest_job_or_for_what_options_describe(remember: Remember, smlocal: Run) -> None:
    assert smlocal("shell").stderr.startswith("error: there is no job yet ")
    remember("newer")
    assert smlocal("shell", DOCKER_HOST="unix:///nowhere").stderr.startswith("newest job: newer\n")
    assert "newest job" not in smlocal("shell", "--image", "any", DOCKER_HOST="unix:///nowhere").stderr


def test_no_job_yet(smlocal: Run) -> None:
    done = smlocal("describe")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: there is no job yet ")
    assert "smlocal demo" in done.stderr


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("command", ["rm", "rerun", "publish", "pack", "interrupt", "stop"])
def test_what_changes_something_needs_a_name(command: str, remember: Remember, smlocal: Run) -> None:
    remember("older")
    remember("newer", ended=False)
    done = smlocal(command)
    assert done.returncode == 2
    assert "[usage]" in done.stderr
    assert "missing argument 'NAME" in done.stderr
    assert ("Running now: newer" in done.stderr) == (command == "stop")
    assert smlocal("jobs").stdout.count("\n") == 3


@pytest.mark.slow(0.5)
def test_stop_asks_on_a_terminal(remember: Remember, tmp_path: Path, smlocal: Run) -> None:
    remember("newer", ended=False)
    terminal = Terminal(columns=100)
    terminal.start(
        [sys.executable, "-m", "smlocal", "stop"],
        cwd=str(tmp_path),
        environment={**os.environ, "SMLOCAL_HOME": str(tmp_path), "TERM": "xterm"},
    )
    terminal.until(lambda: terminal.lines[-1] == "Stop newer? [y/N]:")
    terminal.type(b"n\n")
    assert terminal.end() == 2
    assert terminal.lines[-1] == "Nothing was stopped."
    assert "InProgress" in smlocal("jobs").stdout


def test_stop_with_nothing_to_stop(remember: Remember, smlocal: Run) -> None:
    remember("done")
    assert smlocal("stop").stderr.startswith("error: no job is running ")


@pytest.mark.parametrize("name", ["job.yaml", "job.yml", "job.json"])
def test_the_job_file_of_this_folder(name: str, here: Path, smlocal: Run) -> None:
    text = JOB if name != "job.json" else "{}"
    (here / name).write_text(text)
    done, named = smlocal("validate", cwd=here), smlocal("validate", name, cwd=here)
    assert done.returncode == named.returncode == (0 if name != "job.json" else 2)
    assert done.stderr == f"job file: {name}\n{named.stderr}"


@pytest.mark.parametrize("command", ["run", "plan", "check"])
def test_it_is_the_one_that_a_command_reads(command: str, here: Path, smlocal: Run) -> None:
    (here / "job.yaml").write_text(JOB.replace("ml.m5.large", "m5"))
    done, named = smlocal(command, cwd=here), smlocal(command, "job.yaml", cwd=here)
    assert done.returncode == 2
    assert "job.yaml:4" in named.stderr
    assert done.stderr == f"job file: job.yaml\n{named.stderr}"


@pytest.mark.parametrize(
    ("words", "said"), [(("-q",), False), (("--progress", "json"), False), (("--progress", "plain"), True)], ids=str
)
def test_it_is_not_named_where_programs_read(words: tuple[str, ...], said: bool, here: Path, smlocal: Run) -> None:
    (here / "job.yaml").write_text(JOB.replace("ml.m5.large", "m5"))
    assert ("job file: job.yaml" in smlocal("run", *words, cwd=here).stderr) == said


@pytest.mark.parametrize("command", ["run", "plan", "validate", "check"])
def test_none_or_several_files(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([command]) == 2
    assert "There is no job.yaml, job.yml or job.json in this folder" in capsys.readouterr().err
    (here / "job.yaml").write_text(JOB)
    (here / "job.json").write_text("{}")
    assert run_command_line([command]) == 2
    assert "there are job.yaml and job.json in this folder. Name the one that is meant" in capsys.readouterr().err


def test_an_image_needs_no_file(here: Path, smlocal: Run) -> None:
    (here / "job.yaml").write_text("not: a job\n")
    done = smlocal("run", "--image", "any", cwd=here, DOCKER_HOST="unix:///nowhere")
    assert "job file" not in done.stderr
    assert "[engine-unreachable]" in done.stderr


def test_a_job_of_the_service_is_not_found_by_chance(here: Path, smlocal: Run) -> None:
    (here / "job.yaml").write_text(JOB)
    done = smlocal("submit", "--dry-run", cwd=here)
    assert done.returncode == 2
    assert "give a job file" in done.stderr
