"""`smlocal doctor --report`: what somebody pastes into an issue, and nothing that they would not show."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.kit.forked import run_smlocal

from smlocal.doctor.judgement import fine, problem, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.summary import installed_extras, shown_address, summary

FINDINGS = {
    "engine": problem("no engine at tcp://me:secret@private.example:2375"),
    "container": unknown("not checked"),
    "home": fine("/home/somebody/.smlocal can be written"),
    "gpu": warning("none"),
    "disk": warning("little at /home/somebody"),
}


@pytest.fixture
def report(tmp_path: Path) -> "subprocess.CompletedProcess[str]":
    """The report of a machine without an engine, whose user keeps its socket in the home folder."""
    home = tmp_path / "ann-example"
    home.mkdir()
    variables = {"HOME": str(home), "USER": "ann-example", "LOGNAME": "ann-example", "AWS_SECRET_ACCESS_KEY": "s3cret"}
    variables |= {"DOCKER_HOST": f"unix://{home}/docker.sock", "SMLOCAL_HOME": str(home / "jobs")}
    return run_smlocal(("doctor", "--report"), environment={"PATH": os.environ["PATH"], **variables})


@pytest.mark.slow(0.5)
def test_it_is_one_block_to_paste(report: "subprocess.CompletedProcess[str]") -> None:
    assert report.returncode == 3
    first, *lines, last = report.stdout.splitlines()
    assert (first, last) == ("```text", "```")
    names = [line.partition(" ")[0] for line in lines]
    assert names == [
        "smlocal",
        "python",
        "system",
        "engine",
        "packages",
        "extras",
        "settings",
        "problems",
        "warnings",
        "unknown",
    ]
    assert all(line.partition(" ")[2].strip() for line in lines)
    assert "Linux" in report.stdout


@pytest.mark.slow(0.5)
def test_it_names_nobody(report: "subprocess.CompletedProcess[str]") -> None:
    assert "none answers at unix://~/docker.sock" in report.stdout
    assert "settings  DOCKER_HOST SMLOCAL_HOME" in report.stdout
    said = report.stdout + report.stderr
    assert not [word for word in ("ann-example", "s3cret", os.uname().nodename) if word in said]


def test_sentences_of_checks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    lines = summary(Machine(environment={}), FINDINGS).splitlines()
    assert lines[-4:] == ["problems  engine", "warnings  gpu disk", "unknown   container", "```"]
    assert not [line for line in lines if "secret" in line or "somebody" in line or "private" in line]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("unix:///var/run/docker.sock", "unix:///var/run/docker.sock"),
        ("unix:///home/ann/.docker/run/docker.sock", "unix://~/.docker/run/docker.sock"),
        ("unix:///home/anna/docker.sock", "unix:///home/…/docker.sock"),
        ("unix:///Users/anna/docker.sock", "unix:///Users/…/docker.sock"),
        ("tcp://me:secret@10.1.2.3:2375", "tcp://…"),
        ("ssh://ann@host", "ssh://…"),
    ],
)
def test_an_address_shows_how_the_engine_is_reached_and_not_where(address: str, shown: str) -> None:
    assert shown_address(address, home="/home/ann") == shown


def test_extras_are_those_of_the_package() -> None:
    found = installed_extras(
        [
            'awscrt>=0.23; extra == "crt"',
            "click>=8",
            'nowhere-to-be-found>=1; extra == "x"',
            'click; extra == "x"',
            "smlocal[x]; extra == 'all'",
        ]
    )
    assert list(found) == ["crt", "x"]
    assert found["crt"].startswith("awscrt ")
    assert found["x"] == "missing nowhere-to-be-found"


def test_it_and_the_document_exclude_each_other() -> None:
    done = run_smlocal(("doctor", "--report", "--json"), environment=os.environ)
    assert done.returncode == 2
    assert "--report and --json cannot be used together" in done.stderr + done.stdout
