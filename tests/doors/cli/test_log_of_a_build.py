"""A container writes what CI services obey and what terminals obey; neither reaches them."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run

ATTACKS = [
    "::warning file=a::injected",
    "   ::error::injected",
    "##[error]injected",
    "x ##vso[task.setvariable variable=injected]y",
    "progress\\r::warning::injected",
    "::add-mask::injected",
]
REASON = "".join(f"{each}\\n" for each in ATTACKS)
SCRIPT = f"printf '{REASON}' | tee /opt/ml/output/failure; cat /opt/ml/output/failure >&2; exit 1"
CONTROLS = r"printf '\033]52;c;aGFoYQ==\007\033]0;title\033\\\033[2Jseen\n' | tee /opt/ml/output/failure; exit 1"


def obeyed(*outputs: str) -> list[str]:
    """The lines that GitHub or Azure would take for commands."""
    lines = [line.strip() for output in outputs for line in re.split(r"\r\n|\r|\n", output)]
    return [line for line in lines if line.startswith("::") or "##[" in line or "##vso[" in line]


@pytest.fixture
def run(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> Run:
    def run_script(script: str, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        job = ("--image", image("sh"), "--name", "attack", "--output", tmp_path / "out", "--env", f"SCRIPT={script}")
        done = smlocal_run("run", *job, "--replace", *options, env=environment)
        assert done.returncode == 1, done.stderr
        return done

    return run_script


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("options", [[], ["--quiet"], ["--timestamps"], ["--json"], ["--progress", "json", "--json"]])
@pytest.mark.parametrize("service", [{"GITHUB_ACTIONS": "true"}, {"TF_BUILD": "True"}])
def test_a_build_obeys_only_smlocal(run: Run, options: list[str], service: dict[str, str]) -> None:
    done = run(SCRIPT, *options, **service)
    assert "injected" in done.stdout + done.stderr
    ours = re.compile(r"::(group|endgroup|error)\b|##\[(group|endgroup)\]|##vso\[task\.(logissue|uploadsummary)\b")
    assert [line for line in obeyed(done.stdout, done.stderr) if not ours.match(line)] == []
    by_us = obeyed(done.stdout, done.stderr)
    assert len([line for line in by_us if "error" in line.partition("injected")[0]]) <= 1


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("options", [[], ["--quiet"], ["--json"]])
def test_lines_of_smlocal_are_harmless_where_no_service_is_seen(run: Run, options: list[str]) -> None:
    """Such as in a container that a build has started. The output of the job's container is passed on there."""
    assert obeyed(run(SCRIPT, *options, "--json").stdout) == []
    assert obeyed(run(SCRIPT, *(each for each in options if each != "--json")).stderr) == []


@pytest.mark.slow(2)
def test_what_is_looked_at_later_is_harmless(run: Run, smlocal_run: Run) -> None:
    run(SCRIPT, "--quiet")
    for command in (["describe"], ["describe", "--json"], ["jobs"], ["jobs", "--json"], ["logs"], ["wait"]):
        name = [] if command[0] == "jobs" else ["attack"]
        done = smlocal_run(*command, *name, env={"GITHUB_ACTIONS": "true"})
        assert obeyed(done.stdout, done.stderr) == [], command
    answer = json.loads(smlocal_run("describe", "attack", "--json").stdout)
    assert "##vso[task.setvariable" in answer["FailureReason"]  # the document says what the file says


def test_the_log_and_a_file_keep_the_bytes(run: Run, smlocal_run: Run, tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        shown = run(SCRIPT, "--quiet", GITHUB_ACTIONS="true").stdout
        file.write(smlocal_run("logs", "attack", "--raw", env={"GITHUB_ACTIONS": "true"}).stdout)
    assert ": :warning file=a::injected" in shown
    assert (tmp_path / "file").read_text().count("::warning file=a::injected") == 2


@pytest.mark.slow(1)
def test_control_sequences(run: Run, smlocal_run: Run) -> None:
    raw = run(CONTROLS)
    assert "\x1b]52;c;" in raw.stdout  # as `docker run` shows it
    assert "\x1b]" not in raw.stderr  # where the reason stands
    safe = run(CONTROLS, "--safe-output")
    assert "\x1b" not in safe.stdout + safe.stderr
    assert r"\x1b]52;c;aGFoYQ==\x07" in safe.stdout
    assert "\x1b]52;c;" in smlocal_run("logs", "attack", "--raw").stdout
    assert "\x1b" not in smlocal_run("logs", "attack", "--raw", "--safe-output").stdout
    assert "\x1b" not in smlocal_run("logs", "attack").stdout
    assert "\x1b]" not in smlocal_run("describe", "attack").stdout
