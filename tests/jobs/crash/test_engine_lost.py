"""An engine that dies under a running job: an internal error, never the algorithm's."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until

INTERNAL = "InternalServerError: We encountered an internal error. Please try again."


@pytest.mark.slow(3)
@pytest.mark.long
def test_the_engine_is_killed_while_the_container_runs(
    own_engine: Any, image: Callable[[str], str], tmp_path: Path
) -> None:
    tag = image("sh")
    own_engine.load(tag)
    environment = {**os.environ, "SMLOCAL_HOME": str(tmp_path / "home"), "DOCKER_HOST": own_engine.address}
    command = [sys.executable, "-m", "smlocal"]
    with subprocess.Popen(
        [
            *command,
            "run",
            "--image",
            tag,
            "--name",
            "lost",
            "--env",
            "SCRIPT=echo here; sleep 600",
            "--json",
            "--report",
            "r",
        ],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        log = tmp_path / "home" / "jobs" / "lost" / "logs" / "algo-1.log"
        until(lambda: log.exists() and log.read_text() == "here\n")
        own_engine.kill()
        own_engine.start()
        out, err = run.communicate(timeout=120)
    assert run.returncode == 1, err
    answer = json.loads(out)
    assert answer["TrainingJobStatus"] == "Failed"
    assert answer["FailureReason"] == INTERNAL
    assert "engine" in answer["Local"]["Explanation"]
    assert answer["Local"]["Leftovers"] == []
    assert own_engine.docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=lost") == ""
    again = subprocess.run([*command, "describe", "lost", "--json"], env=environment, capture_output=True, check=True)
    assert json.loads(again.stdout) == answer
    assert json.loads((tmp_path / "r").read_text()) == answer
