"""`smlocal doctor` on this machine, on one without an engine, as somebody without rights, on a full disk."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.conftest import run_docker
from tests.integration.s3_servers import S3Servers

from smlocal.contract.outcome.statuses import COMPLETED
from smlocal.store.jobs import Store

Run = Callable[..., subprocess.CompletedProcess[str]]
Checks = dict[str, dict[str, Any]]


def checks_of(done: "subprocess.CompletedProcess[str]") -> Checks:
    """By name; each is shaped as the page says."""
    document = json.loads(done.stdout)["Doctor"]
    assert done.returncode == (0 if document["Ready"] else 3)
    for check in document["Checks"]:
        assert list(check) == ["Check", "Severity", "Sentence", "Remedy"]
    return {check["Check"]: check for check in document["Checks"]}


def trials() -> set[str]:
    """What is on the engine of any doctor's trial: of one that runs now, or that was killed a week ago."""
    labelled = ("--quiet", "--filter", "label=smlocal.job=smlocal-doctor")
    return {
        *run_docker("ps", "--all", *labelled).split(),
        *run_docker("volume", "ls", *labelled).split(),
        *run_docker("image", "ls", *labelled).split(),
    }


def test_this_machine_is_ready_and_nothing_is_left_of_the_look(
    smlocal_run: Run, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    before = trials()
    found = checks_of(smlocal_run("doctor", "--json", env={"AWS_REGION": "eu-west-1"}))
    for name in ("engine", "version", "socket", "container", "overlay", "home", "clock", "region", "leftovers"):
        assert found[name]["Severity"] == "ok", found[name]
    assert "tested" in found["overlay"]["Sentence"]
    # Docker's own default, and no GPU on the machines that run these tests.
    assert "64 MiB" in found["shared-memory"]["Sentence"]
    assert found["gpu"]["Severity"] == "warning"
    # Other doctors may be at work: what is theirs goes, what was ours would stay.
    left = trials() - before
    wait_until(lambda: not left & trials())


def test_people_see_a_mark_a_sentence_and_what_to_do(smlocal_run: Run) -> None:
    done = smlocal_run("doctor", "--need", "gpu")
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("✗ gpu "))
    assert "nvidia-container-toolkit" in lines[at + 1]
    assert lines[at + 1].startswith(" ")
    assert any(line.startswith("✔ overlay ") for line in lines)
    assert done.stderr.startswith("Not ready: gpu (")
    refused = smlocal_run("doctor", "--need", "gpus")
    assert refused.returncode == 2
    assert "unknown check gpus; choose from engine, version" in refused.stderr


def test_an_engine_that_is_not_there(smlocal_run: Run, tmp_path: Path) -> None:
    found = checks_of(smlocal_run("doctor", "--json", env={"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}))
    assert found["engine"]["Severity"] == "problem"
    assert any("systemctl start docker" in line for line in found["engine"]["Remedy"])
    assert found["overlay"]["Severity"] == "unknown"
    assert found["home"]["Severity"] == "ok"


@pytest.fixture
def full_home() -> Iterator[Path]:
    """A disk of 256 KiB that is full."""
    home = Path(tempfile.mkdtemp(prefix="smlocal-full-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", home], check=True)
    (home / "filler").write_bytes(bytes(256 << 10))
    yield home
    subprocess.run(["umount", home], check=True)
    home.rmdir()


def test_a_full_disk(smlocal_run: Run, full_home: Path) -> None:
    found = checks_of(smlocal_run("doctor", "--json", env={"SMLOCAL_HOME": str(full_home)}))
    assert found["home"]["Severity"] == "problem"
    assert "is full" in found["home"]["Sentence"]
    assert found["disk"]["Severity"] == "problem"
    assert str(full_home) in found["disk"]["Sentence"]
    # What is tried on the engine does not need the home.
    assert found["container"]["Severity"] == "ok", found["container"]


def test_leftovers_of_a_job_that_is_over(smlocal_run: Run, smlocal_home: Path) -> None:
    name, run = f"doctor-{os.getpid()}", os.urandom(4).hex()
    with Store.open(str(smlocal_home)) as store:
        store.create(name, run_id=run, created=1.0, documents={"request": {}, "plan": {}}, supervisor_pid=None)
        store.transition(
            name, status=COMPLETED.status, secondary_status=COMPLETED.secondary, message=COMPLETED.message, at=2.0
        )
    run_docker("volume", "create", "--label", f"smlocal.job={name}", "--label", f"smlocal.run={run}", name)
    try:
        found = checks_of(smlocal_run("doctor", "--json"))
    finally:
        run_docker("volume", "rm", name)
    assert found["leftovers"]["Severity"] == "warning"
    assert f"{name} (1: volume {name})" in found["leftovers"]["Sentence"]


def test_aws_is_asked_only_with_online(smlocal_run: Run, s3_servers: S3Servers) -> None:
    server = s3_servers("moto")
    environment = {**server.environment, "AWS_ENDPOINT_URL": server.environment["AWS_ENDPOINT_URL_S3"]}
    silent = checks_of(smlocal_run("doctor", "--json", env={**environment, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}))
    assert "not tested" in silent["credentials"]["Sentence"]
    found = checks_of(smlocal_run("doctor", "--json", "--online", env=environment))
    assert found["credentials"]["Sentence"].startswith("AWS identifies you as arn:aws:")
    assert found["clock"]["Sentence"] == "same time as the engine and AWS"
    dead = {**environment, "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:9"}
    broken = checks_of(smlocal_run("doctor", "--json", "--online", env=dead))
    assert broken["credentials"]["Severity"] == "warning"
    assert broken["clock"]["Severity"] == "ok"
