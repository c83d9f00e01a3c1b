"""Each benchmark, once and as small as it can be: it prints its rows. What they say is for `benchmarks/run-all`."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
ROWS = {
    "archive": 1,
    "cached_channel": 1,
    "check_jobs": 1,
    "completion": 1,
    "credentials": 1,
    "data_parallel": 3,
    "endpoint_calls": 2,
    "endpoint_fit": 1,
    "endpoint_idle": 2,
    "endpoint_job": 1,
    "endpoint_queue": 1,
    "fastfile": 4,
    "help": 1,
    "hosting": 3,
    "hosting_calls": 7,
    "hosts": 2,
    "idle": 1,
    "image_check": 3,
    "launch": 1,
    "listing": 1,
    "local_mode": 2,
    "logs": 3,
    "long_run": 8,
    "many_files": 1,
    "memory": 5,
    "no_op": 2,
    "pages": 1,
    "pipe": 4,
    "pipelines": 8,
    "processing": 3,
    "python_api": 1,
    "replica_restart": 1,
    "replicas": 1,
    "reproduce": 1,
    "rules": 2,
    "s3_client": 5,
    "save_intervals": 3,
    "several_engines": 4,
    "shell": 1,
    "side_by_side": 1,
    "small_machine": 12,
    "stop": 1,
    "submit": 2,
    "tensor_reader": 1,
    "transform": 1,
    "tuning": 4,
    "upload": 5,
    "usage": 1,
    "validate": 1,
}
MEMORY_GROUP = Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")
_SMALLEST = ("--rounds", "1", "--scale", "0.005", "--no-record")
_HAS_COMPOSE = "docker compose version >/dev/null 2>&1 || command -v docker-compose"


def why_not(name: str) -> str | None:
    """What this machine lacks."""
    if name == "upload" and shutil.which("pigz") is None:
        return "pigz is not here"
    if name == "small_machine" and (os.geteuid() != 0 or not MEMORY_GROUP.exists()):
        return "not root, or no control groups of version 1"
    if name == "local_mode" and subprocess.run(["sh", "-c", _HAS_COMPOSE], capture_output=True, check=False).returncode:
        return "docker compose is not here"
    return None


def rows_of(name: str, *options: str) -> list[list[str]]:
    """The cells of each row below the heads of the tables."""
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "python", BENCHMARKS / f"{name}.py", *_SMALLEST, *options],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cells = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    return [row for row in cells if row[0].strip() != "what" and not row[0].startswith("---")]


@pytest.mark.slow(15)
@pytest.mark.long
@pytest.mark.large("benchmarks")
@pytest.mark.parametrize("name", ROWS)
def test_a_benchmark_prints_its_rows(name: str) -> None:
    missing = why_not(name)
    if missing is not None:
        pytest.skip(missing)
    rows = rows_of(name)
    assert len(rows) == ROWS[name], rows
    for row in rows:
        assert len(row) == 6, row
        assert row[3].strip(), row
        assert row[5].strip() in {"yes", "NO"}


@pytest.mark.slow(20)
@pytest.mark.long
@pytest.mark.large("benchmarks")
def test_a_no_op_job_is_measured_beside_other_commits() -> None:
    rows = [row[0].strip() for row in rows_of("no_op", "--against", "HEAD")]
    named = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    assert f"no-op job ÷ that of commit {named}" in rows
    # The last commit that changed the code may be the same.
    assert len(rows) in {4, 6}
