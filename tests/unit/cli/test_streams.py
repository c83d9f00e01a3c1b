"""The standard streams may be closed, or in an encoding that lacks our signs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smlocal.contract.outcome.statuses import COMPLETED
from smlocal.store.jobs import Store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that remembers a finished job."""
    with Store.open(str(tmp_path)) as store:
        plan = {
            "TrainingJobArn": "arn:…",
            "Hosts": [{"Name": "algo-1"}],
            "Output": {"S3ModelArtifacts": "file:///out/•/model.tar.gz"},
        }
        store.create("done", run_id="0" * 8, created=1.0, documents={"request": {}, "plan": plan}, supervisor_pid=None)
        store.transition(
            "done", status=COMPLETED.status, secondary_status=COMPLETED.secondary, message=COMPLETED.message, at=2.0
        )
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


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_lacks_is_escaped(encoding: str, home: Path) -> None:
    shown = smlocal(home, "", "describe", "done", PYTHONIOENCODING=encoding)
    assert shown.returncode == 0, shown.stderr
    refused = smlocal(home, "", "describe", "•", PYTHONIOENCODING=encoding)
    assert refused.returncode == 2
    assert "error: " in refused.stderr
    assert "\\u2022" in refused.stderr
