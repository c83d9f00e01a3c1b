"""`smlocal` alone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run

Remember = Callable[..., None]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("files", "next_commands"),
    [
        ((), ["smlocal demo", "smlocal init IMAGE"]),
        (("Dockerfile",), ["smlocal init", "smlocal run --build ."]),
        (("job.yaml",), ["smlocal run", "smlocal plan"]),
        (("job.yml", "Dockerfile"), ["smlocal run", "smlocal run --build .", "smlocal plan"]),
        (("job.yaml", "job.json"), ["smlocal run job.yaml", "smlocal run job.json", "smlocal plan job.yaml"]),
    ],
    ids=str,
)
def test_a_folder(files: tuple[str, ...], next_commands: list[str], here: Path, smlocal: Run) -> None:
    for each in files:
        (here / each).write_text("")
    home = here.parent / "home"
    done = smlocal(cwd=here, SMLOCAL_HOME=str(home))
    assert (done.returncode, done.stderr) == (0, "")
    head, *lines = done.stdout.splitlines()
    assert head.startswith("In this folder: ")
    assert all(each in head for each in files)
    assert [line[2:30].strip() for line in lines] == [*next_commands, "smlocal --help"]
    assert not home.exists()  # nothing is made for a person who looks


def test_the_files_of_all_kinds_are_found_by_what_they_say(here: Path, smlocal: Run) -> None:
    for name, text in (
        ("a.yml", "# a search\nHyperParameterTuningJobConfig: {}\n"),
        ("b.json", '{"PrimaryContainer": {"Image": "image"}}'),
        ("compose.yaml", "services: {}\n"),
        ("package.json", '{"name": "no job"}'),
        ("torn.json", '{"TransformInput"'),
    ):
        (here / name).write_text(text)
    head, *lines = smlocal(cwd=here).stdout.splitlines()
    assert head == "In this folder: a.yml (tuning job), b.json (endpoint)"
    commands = ["smlocal run a.yml", "smlocal deploy b.json", "smlocal plan a.yml", "smlocal --help"]
    assert [line[2:30].strip() for line in lines] == commands
    done = smlocal("run", cwd=here)
    assert done.returncode == 2
    assert "Name the file that is meant: a.yml (tuning job), b.json (endpoint)" in done.stderr


@pytest.mark.parametrize(
    ("job", "says", "next_commands"),
    [
        ({}, "   Completed ", ["smlocal describe", "smlocal report --open"]),
        ({"reason": "AlgorithmError: " + "no " * 99}, "   Failed ", ["smlocal logs -n 20", "smlocal describe"]),
        ({"ended": False}, "   InProgress, Training", ["smlocal logs -f", "smlocal jobs --watch"]),
    ],
    ids=str,
)
def test_the_newest_job(
    job: dict[str, str], says: str, next_commands: list[str], here: Path, remember: Remember, smlocal: Run
) -> None:
    remember("older", reason="older")
    remember("newer", **job)
    (here / "job.yaml").write_text("")
    (here / "Dockerfile").write_text("")
    lines = smlocal(cwd=here).stdout.splitlines()
    (head,) = [line for line in lines if line.startswith("Newest job: ")]
    assert head.startswith(f"Newest job: newer{says}")
    assert [line[2:30].strip() for line in lines[-3:-1]] == next_commands
    assert ("  AlgorithmError: no no" in "\n".join(lines)) == ("reason" in job)
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 100


def test_a_home_that_cannot_be_used_is_said_in_one_line(here: Path, smlocal: Run) -> None:
    home = here.parent / "home"
    home.mkdir()
    (home / "smlocal.db").write_text("no database")
    done = smlocal(cwd=here, SMLOCAL_HOME=str(home))
    assert done.returncode == 0
    assert "Jobs: The database of smlocal is damaged" in done.stdout
