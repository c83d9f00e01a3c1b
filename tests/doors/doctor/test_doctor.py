"""`smlocal doctor` on this machine, on one without an engine, as somebody without rights, on a full disk."""

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import run_docker
from tests.kit.s3_servers import S3Servers

from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED

Checks = dict[str, dict[str, Any]]


def checks_of(done: "subprocess.CompletedProcess[str]") -> Checks:
    """By name; each is shaped as the page says."""
    document = json.loads(done.stdout)["Doctor"]
    assert done.returncode == (0 if document["Ready"] else 3)
    for check in document["Checks"]:
        assert list(check) == ["Check", "Severity", "Sentence", "Remedy"]
    return {check["Check"]: check for check in document["Checks"]}


def trials() -> set[str]:
    """Objects on the engine of any doctor's trial: of one that runs now, or that was killed a week ago."""
    labelled = ("--quiet", "--filter", "label=smlocal.job=smlocal-doctor")
    return {
        *run_docker("ps", "--all", *labelled).split(),
        *run_docker("volume", "ls", *labelled).split(),
        *run_docker("image", "ls", *labelled).split(),
    }


@pytest.mark.slow(1)
def test_this_machine_is_ready_and_nothing_is_left_of_the_look(smlocal_run: Run) -> None:
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
    until(lambda: not left & trials())


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
    assert "unknown check gpus; choose from smlocal, engine, place, version" in refused.stderr


@pytest.mark.slow(1)
def test_the_block_for_an_issue_has_the_engine_and_not_the_checks(smlocal_run: Run) -> None:
    done = smlocal_run("doctor", "--report")
    assert done.returncode == 0, done.stdout
    rows = {line.partition(" ")[0]: line.partition(" ")[2].strip() for line in done.stdout.splitlines()[1:-1]}
    assert re.match(
        r"(Docker|Podman) \d+\.\d+.*, API \d+\.\d+, \w+, cgroup v[12].* kernel .*, at unix://", rows["engine"]
    )
    assert (rows["problems"], "gpu" in rows["warnings"]) == ("none", True)
    assert "✔" not in done.stdout
    assert done.stderr == ""


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


@pytest.mark.slow(1)
def test_a_full_disk(smlocal_run: Run, full_home: Path) -> None:
    found = checks_of(smlocal_run("doctor", "--json", env={"SMLOCAL_HOME": str(full_home)}))
    assert found["home"]["Severity"] == "problem"
    assert "is full" in found["home"]["Sentence"]
    assert found["disk"]["Severity"] == "problem"
    assert str(full_home) in found["disk"]["Sentence"]
    # Trials on the engine do not need the home.
    assert found["container"]["Severity"] == "ok", found["container"]


@pytest.mark.slow(1)
def test_leftovers_of_a_job_that_is_over(smlocal_run: Run, smlocal_home: Path) -> None:
    name, run = f"doctor-{os.getpid()}", os.urandom(4).hex()
    with Store.open(str(smlocal_home)) as store:
        store.create(name, run_id=run, created=1.0, documents={"request": {}, "plan": {}}, supervisor_pid=None)
        store.transition(name, status=COMPLETED.status, phase=COMPLETED.phase, message=COMPLETED.message, at=2.0)
    run_docker("volume", "create", "--label", f"smlocal.job={name}", "--label", f"smlocal.run={run}", name)
    try:
        found = checks_of(smlocal_run("doctor", "--json"))
    finally:
        run_docker("volume", "rm", name)
    assert found["leftovers"]["Severity"] == "warning"
    assert f"{name} (1: volume {name})" in found["leftovers"]["Sentence"]


@pytest.mark.slow(2)
def test_a_running_job_of_this_home_is_none_of_another(
    smlocal_run: Run, tmp_path: Path, image: Callable[[str], str]
) -> None:
    name = f"doctor-running-{os.getpid()}"
    run = ("run", "--detach", "--image", image("sh"), "--name", name, "-e", "SCRIPT=sleep 100", "-o", "out")
    smlocal_run(*run, cwd=tmp_path, check=True)
    try:
        until(lambda: name in run_docker("ps", "--format", '{{.Label "smlocal.job"}}'))
        ours = checks_of(smlocal_run("doctor", "--json"))["leftovers"]
        others = checks_of(smlocal_run("doctor", "--json", env={"SMLOCAL_HOME": str(tmp_path / "other")}))["leftovers"]
    finally:
        smlocal_run("rm", "--stop", name, check=True)
    assert name not in ours["Sentence"]
    assert "jobs of another SMLOCAL_HOME" in others["Sentence"]


@pytest.mark.slow(1)
def test_what_a_killed_doctor_left_is_removed_by_a_later_one(smlocal_run: Run) -> None:
    """Its image has the time at which it was made, so this one is made as a doctor of an hour ago would have."""
    run = os.urandom(4).hex()
    name = f"smlocal-doctor-{run}"
    labels = {"smlocal.job": "smlocal-doctor", "smlocal.run": run}
    subprocess.run(
        ["docker", "load"], input=image_archive(name, labels, created="2026-01-01T00:00:00Z"), check=True, timeout=60
    )
    labelled = [word for key, value in labels.items() for word in ("--label", f"{key}={value}")]
    run_docker("volume", "create", *labelled, name)
    run_docker("create", *labelled, "--name", name, name, "none")
    checks_of(smlocal_run("doctor", "--json"))
    assert run_docker("image", "ls", "--quiet", name) == ""
    assert run_docker("volume", "ls", "--quiet", "--filter", f"label=smlocal.run={run}") == ""
    assert run_docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.run={run}") == ""


def image_archive(name: str, labels: dict[str, str], *, created: str) -> bytes:
    """An image with an empty layer, as `docker load` reads it."""
    layer = bytes(1024)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {"Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [f"{name}:latest"], "Layers": ["layer.tar"]}]
    files = {
        "config.json": json.dumps(config).encode(),
        "manifest.json": json.dumps(manifest).encode(),
        "layer.tar": layer,
    }
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


@pytest.mark.slow(2)
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
