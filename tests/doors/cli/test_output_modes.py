"""How much a run says: quiet, and at the end of a failed run."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.doors.cli.terminal import Terminal
from tests.kit import Run

FAILS = "echo said; printf why >/opt/ml/output/failure; exit 3"


@pytest.mark.slow(1)
def test_a_quiet_run_that_fails_says_why(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    job = ("--image", image("sh"), "--output", "out", "--quiet")
    done = smlocal_run("run", *job, "--name", "quiet-bad", "-e", f"SCRIPT={FAILS}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "said\n")
    assert done.stderr == "Failed: AlgorithmError: why, exit code: 3\n"
    done = smlocal_run("run", *job, "--name", "quiet-good", "-e", "SCRIPT=echo said", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "said\n", "")


@pytest.mark.slow(1)
def test_a_failure_shows_the_last_lines_of_the_host_that_failed(
    smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    script = (
        'for i in $(seq 40); do echo "$(hostname) line $i"; done; '
        'if grep -q \'"current_host":"algo-2"\' /opt/ml/input/config/resourceconfig.json; then '
        "until nc algo-1 4000 </dev/null 2>/dev/null; do sleep 0.1; done; exit 3; fi; "  # once its peer has a trap
        "trap 'exit 143' TERM; nc -l -p 4000 </dev/null; sleep 600 & wait"
    )
    job = ("--image", image("sh"), "--output", "out", "--instance-count", "2", "--json")
    done = smlocal_run("run", *job, "--name", "two-bad", "-e", f"SCRIPT={script}", cwd=tmp_path)
    assert done.returncode == 1
    local = json.loads(done.stdout)["Local"]
    assert local["FailedHost"] == "algo-2"
    lines = done.stderr.splitlines()
    (head,) = (number for number, line in enumerate(lines) if line.startswith("Last lines of"))
    assert lines[head] == "Last lines of algo-2"
    shown = [line for line in lines[head + 1 :] if " line " in line]
    assert [line.rpartition(" ")[2] for line in shown] == [str(number) for number in range(21, 41)]


@pytest.mark.slow(1)
def test_a_traceback_in_the_log_and_in_the_failure_file_is_shown_once(
    smlocal_run: Run, image: Callable[[str], str], smlocal_home: Path, tmp_path: Path
) -> None:
    said = """Traceback (most recent call last):\\n  File "train", line 1\\n    train()\\nValueError: no rows\\n"""
    script = f"printf '{said}' | tee /opt/ml/output/failure; exit 1"
    words = ("run", "--image", image("sh"), "--output", "out", "-e", f"SCRIPT={script}")
    apart = smlocal_run(*words, "--name", "traceback-apart", cwd=tmp_path).stderr
    assert apart.count("Traceback") == apart.count("ValueError: no rows") == 1
    assert "Last lines of" not in apart, "the reason has them all"

    terminal = Terminal(columns=120, rows=60)
    environment = {**os.environ, "SMLOCAL_HOME": str(smlocal_home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    terminal.start(
        [sys.executable, "-m", "smlocal", *words, "--name", "traceback-above"],
        cwd=str(tmp_path),
        environment=environment,
    )
    terminal.end(seconds=120)
    text = "\n".join(terminal.lines)
    assert text.count("    train()") == 1
    first, last = "Failed: AlgorithmError: Traceback (most recent call last):", "  ValueError: no rows, exit code: 1"
    assert f"{first}\n  …\n{last}\n" in text
    assert terminal.lines[-1].startswith("  next      smlocal logs traceback-above")


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_events_for_programs(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    job = ("--image", image("sh"), "--output", "out", "--progress", "json")
    done = smlocal_run("run", *job, "--name", "told-bad", "-e", f"SCRIPT={FAILS}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "said\n")
    told = events(done.stderr)
    assert all(set(each) > {"Event", "Time"} for each in told)
    kinds = [each["Event"] for each in told]
    assert sorted(kinds[:2]) == ["PhaseBegan", "Planned"]
    assert [each["Phase"] for each in told if each["Event"] == "PhaseEnded"] == [
        "Starting",
        "Downloading",
        "Training",
        "Uploading",
    ]
    assert {**told[-1], "Time": 0} == {
        "Event": "Ended",
        "Time": 0,
        "TrainingJobName": "told-bad",
        "TrainingJobStatus": "Failed",
        "SecondaryStatus": "Failed",
        "FailureReason": "AlgorithmError: why, exit code: 3",
    }


def test_events_and_the_answer(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    job = ("--image", image("sh"), "--output", "out", "--json", "--ci", "github")
    env = {"SMLOCAL_PROGRESS": "json"}
    script = r"SCRIPT=printf 'one\n\ntwo {\377'"
    done = smlocal_run("run", *job, "--name", "told-good", "-e", script, cwd=tmp_path, env=env)
    assert json.loads(done.stdout)["TrainingJobStatus"] == "Completed"
    lines = [(each["Host"], each["Line"]) for each in events(done.stderr) if each["Event"] == "Output"]
    assert lines == [("algo-1", "one"), ("algo-1", ""), ("algo-1", "two {\ufffd")]
    done = smlocal_run("run", *job, "--name", "told-good", cwd=tmp_path, env=env)
    (told,) = events(done.stderr)
    assert told["Event"] == "Error"
    assert told["Error"] == json.loads(done.stdout)["Error"]
    assert (done.returncode, told["Error"]["ExitCode"]) == (2, 2)


@pytest.mark.slow(3)
def test_modes_by_variable_and_file(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    job = ("--image", image("sh"), "--output", "out", "-e", "SCRIPT=echo said; sleep 2")
    (tmp_path / "smlocal.toml").write_text('progress = "quiet"\n')
    done = smlocal_run("run", *job, "--name", "mode-file", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("said\n", "")
    done = smlocal_run("run", *job, "--name", "mode-variable", cwd=tmp_path, env={"SMLOCAL_PROGRESS": "tty"})
    assert re.search(r"● Training       \d+ s\n", done.stderr)  # a carriage return, as Python reads it
    assert "\x1b[J" in done.stderr
    done = smlocal_run(
        "run", *job, "--name", "mode-flag", "--progress", "plain", cwd=tmp_path, env={"SMLOCAL_PROGRESS": "tty"}
    )
    assert "\x1b" not in done.stderr
    assert "● Training  " not in done.stderr
    colour = {"FORCE_COLOR": "1"}
    done = smlocal_run("run", *job, "--name", "mode-colour", "--progress", "plain", cwd=tmp_path, env=colour)
    assert "\x1b[32m✔" in done.stderr


@pytest.mark.slow(2)
def test_names_and_times_of_lines(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    job = ("--image", image("sh"), "--output", "out", "--instance-count", "2", "-e", "SCRIPT=echo said")
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
    for number, (options, head) in enumerate(
        {
            (): r"algo-\d \| ",
            ("--no-log-prefix",): "",
            ("--timestamps",): stamp + r"algo-\d \| ",
            ("-t", "--no-log-prefix"): stamp,
        }.items()
    ):
        done = smlocal_run("run", *job, "--name", f"heads-{number}", *options, cwd=tmp_path)
        first, second = done.stdout.splitlines()
        assert re.fullmatch(head + "said", first)
        assert re.fullmatch(head + "said", second)
        shown = smlocal_run("logs", f"heads-{number}", *options).stdout
        assert [re.fullmatch(head + "said", line) is not None for line in shown.splitlines()] == [True, True]
    coloured = smlocal_run("logs", "heads-0", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[36malgo-1 |\x1b[0m said\n" in coloured
