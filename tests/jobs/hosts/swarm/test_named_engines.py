"""Engines by their Docker contexts, and an image that is built for all of them."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.jobs.hosts.swarm.networked_engines import NetworkedEngines
from tests.kit import Run

TAG = "smlocal-built-for-a-swarm"


@pytest.fixture
def contexts(swarm: NetworkedEngines, tmp_path: Path) -> dict[str, str]:
    """The environment in which `one` and `two` are contexts of the engines, and nothing is docker's own engine."""
    folder = tmp_path / "docker"
    for name, engine in zip(("one", "two"), swarm.engines, strict=True):
        words = ("docker", "--config", folder, "context", "create", name, "--docker", f"host={engine.address}")
        subprocess.run(words, check=True, capture_output=True, timeout=60)
    return {"DOCKER_CONFIG": str(folder), "DOCKER_HOST": f"unix://{tmp_path}/none"}


@pytest.mark.slow(2)
def test_a_new_image_replaces_the_old_one_on_all_engines(
    swarm: NetworkedEngines, contexts: dict[str, str], image: Callable[[str], str], tmp_path: Path, smlocal_run: Run
) -> None:
    folder = tmp_path / TAG
    folder.mkdir()
    (folder / "Dockerfile").write_text(
        f'FROM {image("sh")}\nCOPY message /message\nENTRYPOINT ["/bin/sh", "-c", "cat /message"]\n'
    )
    named = ("--engine", "two", "--engine", "one", "--instance-count", "2", "-o", "out")
    for turn in ("first", "second"):
        (folder / "message").write_text(f"from the {turn} build\n")
        job = f"built-for-swarm-{turn}-{os.getpid()}"
        done = smlocal_run("run", "--build", folder, *named, "--name", job, env=contexts, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(f"from the {turn} build") == 2
        assert f"sending {TAG}:latest to {swarm.engines[0].address}" in done.stderr
        assert "COPY message" in done.stderr
    two_hosts = ("plan", "--image", TAG, "--instance-count", "2")
    absent = smlocal_run(*two_hosts, "--engine", "one", "--engine", f"unix://{tmp_path}/none", env=contexts)
    assert (absent.returncode, "[engine-unreachable]" in absent.stderr) == (3, True)
    assert f"no Docker engine answers at unix://{tmp_path}/none" in absent.stderr
    smlocal_run("rm", *(f"built-for-swarm-{turn}-{os.getpid()}" for turn in ("first", "second")), check=True)
