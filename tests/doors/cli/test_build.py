"""`smlocal run --build`: an image is built on the real engine, then the job runs in it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit import Run, until

TAG = "smlocal-built-by-a-test"


@pytest.fixture
def folder(tmp_path: Path, image: Callable[[str], str], docker: Callable[..., str]) -> Iterator[Path]:
    """A folder with a Dockerfile whose image prints a file of the folder."""
    made = tmp_path / TAG
    made.mkdir()
    (made / "message").write_text("from the first build\n")
    (made / "Dockerfile").write_text(
        f'FROM {image("sh")}\nCOPY message /message\nENTRYPOINT ["/bin/sh", "-c", "cat /message"]\n'
    )
    yield made
    for tag in docker("images", "--format", "{{.Repository}}:{{.Tag}}", TAG).split():
        docker("rmi", "--force", tag)


@pytest.mark.slow(2)
def test_an_image_is_built_before_each_run(
    folder: Path, tmp_path: Path, smlocal_run: Run, assert_nothing_left: Callable[[str], None]
) -> None:
    first = smlocal_run("run", "--build", folder.name, "--name", "built-first", "-o", "out", cwd=tmp_path)
    assert (first.returncode, first.stdout) == (0, "from the first build\n"), first.stderr
    assert f"{TAG}:latest" in first.stderr
    assert "COPY message" in first.stderr

    (folder / "message").write_text("from the second build\n")
    again = smlocal_run("rerun", "built-first", "--build", folder, "--name", "built-second", "--quiet")
    assert (again.returncode, again.stdout, again.stderr) == (0, "from the second build\n", ""), again.stderr
    assert_nothing_left("built-second")


@pytest.mark.slow(1)
def test_a_build_that_fails_makes_no_job(folder: Path, tmp_path: Path, smlocal_run: Run) -> None:
    with (folder / "Dockerfile").open("a") as file:
        file.write("RUN echo told why >&2; exit 7\n")
    for quiet in ((), ("--quiet",)):
        done = smlocal_run("run", "--build", folder, "--name", "never-built", *quiet, cwd=tmp_path)
        assert done.returncode == 2
        assert "[build-failed]" in done.stderr
        assert "exit 7" in done.stderr
        assert done.stdout == ""
    assert "never-built" not in smlocal_run("jobs").stdout


def test_a_build_that_fails_leaves_no_container(
    folder: Path, tmp_path: Path, smlocal_run: Run, docker: Callable[..., str]
) -> None:
    mark = f"build-that-fails-{os.getpid()}"
    with (folder / "Dockerfile").open("a") as file:
        file.write(f"RUN echo {mark} && exit 7\n")
    assert smlocal_run("run", "--build", folder, "--name", "never-built", cwd=tmp_path).returncode == 2
    assert mark not in docker("ps", "--all", "--no-trunc", "--format", "{{.Command}}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_build(
    number: int, folder: Path, tmp_path: Path, smlocal_home: Path, docker: Callable[..., str]
) -> None:
    mark = f"echo build-that-takes-long-{os.getpid()}-{number}"
    with (folder / "Dockerfile").open("a") as file:
        file.write(f"RUN {mark}; sleep 300\n")
    command = (sys.executable, "-m", "smlocal", "run", "--build", str(folder), "--name", "never-built")
    environment = {**os.environ, "SMLOCAL_HOME": str(smlocal_home)}
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=said, stderr=said, start_new_session=True
        )
    until(lambda: mark in docker("ps", "--no-trunc", "--format", "{{.Command}}"))
    process.send_signal(number)
    assert process.wait(60) == 143, (tmp_path / "said").read_text()
    assert "Traceback" not in (tmp_path / "said").read_text()
    clients = subprocess.run(["pgrep", "--session", str(process.pid)], capture_output=True, text=True, check=False)
    assert clients.stdout == ""
    until(lambda: mark not in docker("ps", "--all", "--no-trunc", "--format", "{{.Command}}"))


def test_a_name_in_use_is_refused_before_the_build(folder: Path, tmp_path: Path, smlocal_run: Run) -> None:
    run = ("run", "--build", folder, "--name", "built-once", "-o", "out")
    smlocal_run(*run, cwd=tmp_path, check=True)
    done = smlocal_run(*run, cwd=tmp_path)
    assert done.returncode == 2
    assert "[name-in-use]" in done.stderr
    assert "COPY message" not in done.stderr


def test_without_a_docker_command_or_an_engine(folder: Path, tmp_path: Path, smlocal_run: Run) -> None:
    run = ("run", "--build", folder, "--name", "never-built-either")
    absent = smlocal_run(*run, cwd=tmp_path, env={"PATH": os.devnull})
    assert (absent.returncode, "[build-unavailable]" in absent.stderr) == (3, True), absent.stderr
    silent = smlocal_run(*run, cwd=tmp_path, env={"DOCKER_HOST": f"unix://{tmp_path}/none"})
    assert (silent.returncode, "[engine-unreachable]" in silent.stderr) == (3, True), silent.stderr


def test_check_of_a_folder_whose_image_is_not_built(tmp_path: Path, smlocal_run: Run) -> None:
    (tmp_path / "smlocal-never-built").mkdir()
    done = smlocal_run("check", "smlocal-never-built", "--static", cwd=tmp_path)
    assert done.returncode == 2
    assert "smlocal-never-built is a folder" in done.stderr


def test_check_of_an_image_that_has_the_name_of_a_folder(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    (tmp_path / image("sh")).mkdir(parents=True)
    done = smlocal_run("check", image("sh"), "--static", "--json", cwd=tmp_path)
    assert done.returncode in {0, 1}, done.stderr
    assert '"Image"' in done.stdout
