"""The value of a flag is held to the same rules as a file, and a blank path is not the folder one is in."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.kit import Run

from smlocal.cli.main import run_command_line

FLAGS = {
    ("--channel", "a="): ("inputDataConfig.1.member.dataSource.s3DataSource.s3Uri", "request-invalid", 2),
    ("--channel", "a= "): ("inputDataConfig.1.member.dataSource.s3DataSource.s3Uri", "request-invalid", 2),
    ("-o", ""): ("outputDataConfig.s3OutputPath", "request-invalid", 2),
    ("-o", " "): ("outputDataConfig.s3OutputPath", "request-invalid", 2),
    ("--code", ""): ("Local.Code", "request-invalid", 2),
    ("--code", " "): ("Local.Code is empty", "request-invalid", 2),
    ("--source", "s3://b="): ("s3://b is ''", "request-invalid", 2),
    ("--source", "s3://=data"): ("'s3://' is neither an s3:// prefix", "request-invalid", 2),
    ("--engine", ""): ("member 1 is ''", "request-invalid", 2),
    ("--engine", " "): ("Local.Engines.1.member: is empty", "request-invalid", 2),
    ("--engine", "a", "--engine", "a"): ("Local.Engines.2.member: 'a' is in the list twice", "request-invalid", 2),
    ("--engine", "npipe://a"): ("'npipe://a' is a Windows pipe: smlocal supports unix://", "request-invalid", 2),
    ("-e", "SMLOCAL_NOT_SET"): ("SMLOCAL_NOT_SET is not set here", "variable-unset", 2),
    ("-e", "=1"): ("--env without a name", "usage", 2),
    ("--env-file", "none"): ("'none' cannot be read", "env-file", 2),
}
if sys.platform == "linux":
    FLAGS["-o", "/proc/x"] = ("/proc is on a kernel file system (proc)", "output-unusable", 2)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SMLOCAL_NOT_SET", raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")


@pytest.mark.parametrize("flag", FLAGS, ids=" ".join)
def test_a_flag_that_is_refused(flag: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    words, error, code = FLAGS[flag]
    assert run_command_line(["plan", "--image", "image", *flag]) == code
    said = capsys.readouterr().err
    assert words in said
    assert f"[{error}]" in said


ISOLATED = ("--set", "EnableNetworkIsolation=true")
SPREAD = ("--spread-over", "unix:///nowhere/a.sock", "--spread-over", "unix:///nowhere/b.sock")
CONTRADICTIONS = {
    ("--host-network", "--instance-count", "2"): ("with 2 hosts: they would share all ports", "host-network"),
    ("--host-network", "--instance-count", "2", *SPREAD): ("with 2 hosts: they would share all ports", "host-network"),
    ("--host-network", "--instance-count", "2", "--engine", "unix:///nowhere/a", "--engine", "unix:///nowhere/b"): (
        "or with 2 engines: each is on the network",
        "host-network",
    ),
    ("--host-network", "--network", "a"): ("with Local.Networks: a container on that network", "host-network"),
    ("--host-network", "--credentials", "inherit"): ("with Local.Credentials: they are given", "host-network"),
    ("--host-network", *ISOLATED): ("Local.Network and EnableNetworkIsolation exclude each other", "isolated-job"),
    ("--network", "a", *ISOLATED): ("Local.Networks and EnableNetworkIsolation exclude each other", "isolated-job"),
    ("--add-host", "a=127.0.0.1", *ISOLATED): ("Local.AddHosts and EnableNetworkIsolation exclude", "isolated-job"),
    ("--instance-count", "9", "--set", "Local.NetworkRange=10.0.0.0/29"): ("has no room for 9 hosts", "network-range"),
}
TOLD_FIRST = {
    **{
        f"{command} {' '.join(flags)}": ([command, "--image", "image", *flags], *said)
        for flags, said in CONTRADICTIONS.items()
        for command in ("run", "plan")
    },
    "run --wait-for-debugger": (
        ["run", "--image", "image", "--host-network", "--wait-for-debugger"],
        "with Local.DebugPort: everybody who reaches",
        "host-network",
    ),
    "deploy": (["deploy", "model.yaml"], "Local.AddHosts and EnableNetworkIsolation exclude", "isolated-job"),
    "check --only": (["check", "image", "--only", "no-model", "--static"], "no rule is left", "usage"),
    "check --skip": (["check", "image", "--only", "no-model", "--skip", "no-model"], "no rule is left", "usage"),
}


@pytest.mark.parametrize("case", TOLD_FIRST)
def test_what_excludes_each_other_is_told_before_an_engine_is_asked(case: str, tmp_path: Path, smlocal: Run) -> None:
    (tmp_path / "model.yaml").write_text(
        "PrimaryContainer: {Image: image}\nEnableNetworkIsolation: true\nLocal: {AddHosts: {a: 127.0.0.1}}\n"
    )
    words, said, error = TOLD_FIRST[case]
    done = smlocal(*words, cwd=tmp_path, DOCKER_HOST="unix:///nowhere/docker.sock")
    assert said in done.stderr
    assert f"[{error}]" in done.stderr
    assert done.returncode == (3 if error == "network-range" else 2)


def test_engines_of_flags_replace_those_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.yaml").write_text(
        "AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}\n"
        "OutputDataConfig: {S3OutputPath: out}\n"
        "ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}\n"
        "StoppingCondition: {MaxRuntimeInSeconds: 60}\n"
        "Local:\n"
        "  Engines: [first, second]\n"
        "  Placement: {algo-1: second}\n"
    )
    assert run_command_line(["plan", "job.yaml", "--engine", "third"]) == 2
    said = capsys.readouterr().err
    assert "job.yaml:7   Local.Placement.algo-1: 'second' is not in Local.Engines; it has third" in said


@pytest.fixture
def _deaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Docker context whose engine does not answer."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    words = ("docker", "context", "create", "deaf", "--docker", "host=unix:///nowhere/deaf.sock")
    subprocess.run(words, check=True, capture_output=True, timeout=60)


@pytest.mark.slow(0.5)
@pytest.mark.usefixtures("_deaf")
@pytest.mark.parametrize(
    ("engines", "error", "words"),
    [
        (["daef"], "engine-context", ['the Docker context "daef" does not exist', 'Did you mean "deaf"?']),
        (
            ["deaf"],
            "engine-unreachable",
            [
                'no Docker engine answers at unix:///nowhere/deaf.sock, the address of the Docker context "deaf"',
                "docker --context deaf version",
                "leave it out of Local.Engines, or of --engine",
            ],
        ),
        (
            ["deaf", "unix:///nowhere/deaf.sock"],
            "engine-twice",
            ['the engines "deaf" and "unix:///nowhere/deaf.sock" are the same one, at unix:///nowhere/deaf.sock'],
        ),
        (["tcp://far:docker"], "engine-unreachable", ["tcp://far:docker is not a valid engine address"]),
        (["ssh://me:secret@far"], "engine-unreachable", ["ssh://me:•••@far is not a valid engine address"]),
    ],
)
def test_an_engine_that_cannot_be_used(
    engines: list[str], error: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [word for engine in engines for word in ("--engine", engine)]
    assert run_command_line(["plan", "--image", "image", *flags]) == 3
    said = capsys.readouterr().err
    assert f"[{error}]" in said
    assert [word for word in words if word not in said] == []


def test_a_blank_output_beside_a_file_that_names_s3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.yaml").write_text(
        "AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}\n"
        "OutputDataConfig: {S3OutputPath: s3://bucket/out}\n"
        "ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}\n"
    )
    assert run_command_line(["plan", "job.yaml", "-o", ""]) == 2
    assert "'Local.Output'" in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_a_region_of_the_environment(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv(variable, "../../x")
    assert run_command_line(["plan", "--image", "image"]) == 3
    said = capsys.readouterr().err
    assert f"{variable} says '../../x', which is not a valid region" in said
    assert "[region-name]" in said


def test_a_region_of_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "config").write_text("[default]\nregion = us east 1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    assert run_command_line(["plan", "--image", "image"]) == 3
    assert "the AWS profile in use says 'us east 1'" in capsys.readouterr().err
