"""The standard streams may be closed, or in an encoding that lacks our signs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that remembers a finished job."""
    with Store.open(str(tmp_path)) as store:
        store.create(
            "done",
            run_id="0" * 8,
            created=1.0,
            documents={"request": {}},
            supervisor_pid=None,
            model_uri="file:///out/•/model.tar.gz",
        )
        store.transition("done", status=COMPLETED.status, phase=COMPLETED.phase, message=COMPLETED.message, at=2.0)
    return tmp_path


def smlocal(home: Path, redirections: str, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
    command = f'exec "$0" -m smlocal "$@" {redirections}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments],
        env={**os.environ, "SMLOCAL_HOME": str(home), **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
    )


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("redirections", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", [("describe", "done"), ("rm", "done"), ("logs", "done"), ("plan", "-")])
def test_closed_streams_disturb_nothing(redirections: str, arguments: tuple[str, ...], home: Path) -> None:
    done = smlocal(home, redirections, *arguments)
    # There is no log and no job file; everything else goes well.
    assert done.returncode == (2 if arguments[0] == "plan" else 0)
    assert "Traceback" not in done.stderr
    assert "defect" not in done.stderr
    # Nothing that was printed went into the database, whose file might have got the number of a closed stream.
    with Store.open(str(home)) as store:
        assert [record.name for record in store.list(limit=None)] == ([] if arguments[0] == "rm" else ["done"])


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_lacks_is_escaped(encoding: str, home: Path) -> None:
    shown = smlocal(home, "", "describe", "done", PYTHONIOENCODING=encoding)
    assert shown.returncode == 0, shown.stderr
    refused = smlocal(home, "", "describe", "•", PYTHONIOENCODING=encoding)
    assert refused.returncode == 2
    assert "error: " in refused.stderr
    assert "\\u2022" in refused.stderr


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("jobs",), 1, "standard-output"),
        (("jobs", "--json"), 1, "standard-output"),
        (("describe", "done", "--json"), 1, "standard-output"),
        (("logs", "done"), 1, "standard-output"),
        (("schema",), 1, "standard-output"),
        (("--help",), 1, "standard-output"),
        (("describe", "nobody", "--json"), 2, "job-unknown"),
        (("jobs", "--no-such-flag", "--json"), 2, "usage"),
    ],
)
def test_output_that_cannot_be_written_is_one_error(
    arguments: tuple[str, ...], code: int, error: str, home: Path
) -> None:
    log = home / "jobs" / "done" / "logs" / "algo-1.log"
    log.parent.mkdir()
    log.write_text("a line\n")
    done = smlocal(home, ">/dev/full", *arguments)
    assert done.returncode == code, done.stderr
    assert done.stderr.count("error: ") == 1
    assert f"[{error}]" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("arguments", [("jobs",), ("schema",), ("describe", "done", "--json"), ("logs", "done")])
def test_a_reader_that_has_had_enough_is_no_error(arguments: tuple[str, ...], home: Path) -> None:
    log = home / "jobs" / "done" / "logs" / "algo-1.log"
    log.parent.mkdir()
    log.write_text("a line\n")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "smlocal", *arguments],
            env={**os.environ, "SMLOCAL_HOME": str(home)},
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("redirections", ["", "2>&1"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("validate", "no.yaml", "--json"), 2),
        (("describe", "nobody", "--json"), 2),
        (("jobs", "--no-such-flag", "--json"), 2),
        (("check", "x", "--json"), 3),
        (("doctor",), 3),
        (("doctor", "--json"), 3),
        (("jobs",), 0),
        (("wait", "done"), 0),
    ],
)
def test_the_exit_code_does_not_depend_on_the_reader(
    arguments: tuple[str, ...], code: int, redirections: str, home: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            ["sh", "-c", f'exec "$0" -m smlocal "$@" {redirections}', sys.executable, *arguments],
            env={**os.environ, "SMLOCAL_HOME": str(home), "DOCKER_HOST": f"unix://{home}/no.sock"},
            cwd=home,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_a_failed_answer_keeps_its_exit_code_on_a_full_disk(home: Path) -> None:
    done = smlocal(home, ">/dev/full", "validate", "no.yaml", "--json")
    assert done.returncode == 2, done.stderr
    assert "[standard-output]" in done.stderr


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "arguments", [("run", "--image", "x"), ("plan", "--image", "x"), ("report", "done", "--html", "r")]
)
def test_a_deleted_folder_is_named(arguments: tuple[str, ...], home: Path) -> None:
    command = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m smlocal "$@"'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments],
        cwd=home,
        env={**os.environ, "SMLOCAL_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "[working-directory]" in done.stderr
    assert "defect" not in done.stderr


def test_ctrl_c_during_the_imports_ends_without_a_traceback(tmp_path: Path) -> None:
    # A module that is imported early, and that is found here first.
    (tmp_path / "click.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    done = subprocess.run(
        [sys.executable, "-m", "smlocal", "jobs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
