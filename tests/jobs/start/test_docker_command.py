"""The docker command of a job that failed: run by a shell, it starts what the job started."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Clean = Callable[[str], None]
SCRIPT = (
    "set -e; cd /opt/ml; cat input/config/hyperparameters.json input/config/resourceconfig.json; "
    "cat input/data/train/a input/data/train-manifest; hostname; pwd; ls -d model output output/data; "
    "env | grep -e TRAINING_JOB_NAME -e SPECIAL -e API_TOKEN | sort; exit 3"
)


def run_by_hand(command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, shell=True, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )


def job_with_data(life: Any, name: str, folder: Path, script: str = SCRIPT, **members: Any) -> str:
    (folder / "the data").mkdir(exist_ok=True)
    (folder / "the data" / "a").write_text("the data\n")
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./the data"}}
    path: str = life.job_file(
        name,
        script,
        InputDataConfig=[{"ChannelName": "train", "DataSource": source}],
        HyperParameters={"lr": "0.1 $HOME 'quoted'"},
        **members,
    )
    return path


@pytest.mark.slow(1)
def test_it_starts_the_job_again(life: Any, tmp_path: Path, assert_nothing_left: Clean) -> None:
    file = job_with_data(life, "by-hand", tmp_path)
    flags = ("-e", "SPECIAL=a b $HOME", "-e", "API_TOKEN=hush")
    failed = life("run", file, "--verbose", *flags)
    assert failed.returncode == 1, failed.stderr
    command = json.loads(life("describe", "by-hand", "--json").stdout)["Local"]["DockerCommand"]
    assert command.startswith("docker run --rm ")
    assert f"  by hand   {command}\n" in failed.stderr
    assert f"By hand\n{command}\n" in life("describe", "by-hand").stdout
    assert "hush" not in command
    assert " -e API_TOKEN " in command
    again = run_by_hand(command, API_TOKEN="hush")
    assert (again.returncode, again.stdout) == (3, failed.stdout), again.stderr
    assert "API_TOKEN=hush" in again.stdout
    written = [path for path in (life.home / "jobs" / "by-hand" / "docker-run").rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if b"hush" in path.read_bytes()]
    assert_nothing_left("by-hand")
    assert life("rm", "by-hand").returncode == 0
    assert not (life.home / "jobs" / "by-hand").exists()


@pytest.mark.slow(1)
def test_of_a_job_that_one_command_cannot_start(life: Any, tmp_path: Path) -> None:
    file = job_with_data(
        life, "by-script", tmp_path, "exit 3", ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2}
    )
    failed = life("run", file)
    assert "by hand" not in failed.stderr
    assert "By hand\nsmlocal plan --recorded by-script --script\n" in life("describe", "by-script").stdout
    script = life("plan", "--recorded", "by-script", "--script")
    assert script.returncode == 0, script.stderr
    assert script.stdout.startswith("#!/usr/bin/env bash")
    assert "by-hand-$job-algo-2" in script.stdout
    refused = life("plan", file, "--recorded", "by-script")
    assert (refused.returncode, "[usage]" in refused.stderr) == (2, True)


def test_a_variable_of_several_lines_needs_the_script(life: Any, tmp_path: Path) -> None:
    failed = life("run", job_with_data(life, "by-lines", tmp_path, "echo one\nexit 3"), "--verbose")
    assert "  by hand   smlocal plan --recorded by-lines --script\n" in failed.stderr


def test_a_secret_among_hyperparameters_is_not_written_to_files(life: Any, tmp_path: Path) -> None:
    failed = life("run", job_with_data(life, "by-secret", tmp_path, "exit 3"), "-v", "-p", "api_token=hush")
    assert "  by hand   smlocal plan --recorded by-secret --script\n" in failed.stderr


@pytest.mark.slow(1)
def test_a_job_that_completed_has_it_with_verbose(life: Any, tmp_path: Path) -> None:
    file = job_with_data(life, "by-hand-plain", tmp_path, "echo done")
    assert "by hand" not in life("run", file).stderr
    shown = life("run", file, "--name", "by-hand-verbose", "--verbose").stderr
    (command,) = [line.removeprefix("  by hand   ") for line in shown.splitlines() if line.startswith("  by hand   ")]
    assert run_by_hand(command).stdout == "done\n"
