"""`smlocal doctor --report`: what somebody pastes into an issue, and nothing that they would not show."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.kit.forked import run_smlocal

from smlocal.doctor.checks import file_system_of
from smlocal.doctor.judgement import fine, problem, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.summary import as_table, described_file_system, installed_extras, shown_address, summary

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
        "context",
        "folders",
        "file-system",
        "packages",
        "extras",
        "settings",
        "problems",
        "warnings",
        "unknown",
        "fine",
    ]
    assert all(line.partition(" ")[2].strip() for line in lines)
    assert "Linux" in report.stdout or "macOS" in report.stdout
    assert "context      none: an address is set" in report.stdout
    assert "folders      not known whether the engine sees them" in report.stdout


@pytest.mark.slow(0.5)
def test_it_names_nobody(report: "subprocess.CompletedProcess[str]") -> None:
    assert "none answers at unix://~/docker.sock" in report.stdout
    assert "settings     DOCKER_HOST SMLOCAL_HOME" in report.stdout
    said = report.stdout + report.stderr
    assert not [word for word in ("ann-example", "s3cret", os.uname().nodename) if word in said]


def test_sentences_of_checks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    lines = summary(Machine(environment={}), FINDINGS).splitlines()
    assert lines[-5:-1] == [
        "problems     engine",
        "warnings     gpu disk",
        "unknown      container",
        "fine         home",
    ]
    assert not [line for line in lines if "secret" in line or "somebody" in line or "private" in line]


@pytest.mark.slow(0.5)
def test_nothing_of_a_users_own_files_and_variables_is_in_it(tmp_path: Path) -> None:
    """Whatever is configured, a word of it that may be a secret, a name or a place is not shown."""
    home = tmp_path / "ann-example"
    files = {
        ".docker/config.json": '{"auths": {"reg.private.example": {"auth": "s3cret"}}, "currentContext": "private"}',
        ".aws/credentials": "[private]\naws_access_key_id = AKIAs3cret\naws_secret_access_key = s3cret\n",
        ".aws/config": "[profile private]\nregion = eu-west-1\nrole_arn = arn:aws:iam::123456789012:role/private\n",
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    variables = {
        "HOME": str(home),
        "USER": "ann-example",
        "AWS_PROFILE": "private",
        "AWS_ACCESS_KEY_ID": "AKIAs3cret",
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "AWS_ENDPOINT_URL": "http://ann-example:s3cret@private.example",
        "HTTPS_PROXY": "http://ann-example:s3cret@private.example",
        "PIP_INDEX_URL": "https://ann-example:s3cret@private.example/simple",
        "SMLOCAL_HOME": str(home / "private-project" / "jobs"),
        "SMLOCAL_REGION": "s3cret",
        "DOCKER_CERT_PATH": str(home / "private-project"),
    }
    for context in (
        {},
        {"DOCKER_CONTEXT": "ann-example"},
        {"DOCKER_HOST": "tcp://ann-example:s3cret@private.example:1"},
    ):
        environment = {"PATH": os.environ["PATH"], **variables, **context}
        done = run_smlocal(("doctor", "--report"), environment=environment)
        assert done.returncode == 3
        said = done.stdout + done.stderr
        assert not [
            word for word in ("ann-example", "s3cret", "private", "123456789012", str(tmp_path)) if word in said
        ]
        assert "another one (its name is not shown)" in said or "DOCKER_HOST" in context


def test_a_table_of_mounts_as_macos_prints_it() -> None:
    said = (
        "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)\n"
        "/dev/disk4s1 on /Volumes/My Disk (exfat, local, nodev)\n"
        "map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)\n"
        "//ann@nas/share on /Volumes/share (smbfs, nodev)\n"
    )
    table = as_table(said)
    kinds = [file_system_of(path, table) for path in ("/Users/ann/x", "/Volumes/My Disk/x", "/Volumes/share")]
    assert kinds == ["apfs", "exfat", "smbfs"]


def test_how_a_file_system_compares_names(tmp_path: Path) -> None:
    """That of a folder that will be made is the one of the folder above."""
    found = described_file_system(str(tmp_path / "not" / "yet"))
    assert os.listdir(tmp_path) == []
    (tmp_path / "x").touch()
    case = "insensitive" if (tmp_path / "X").exists() else "sensitive"
    assert f"; case-{case}; composed and decomposed accents are " in found


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
