"""The screen of a person while a job runs: nothing is garbled, whatever the job prints."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.doors.cli.terminal import Terminal
from tests.kit.fixtures import touch_inside

Start = Callable[..., Terminal]

CHATTY = """
trap 'late=1' TERM
n=0
while [ $n -lt 400 ]; do n=$((n+1)); echo "line $n"; [ $((n % 20)) = 0 ] && sleep 0.1; done
while :; do n=$((n+1)); echo "line $n"; sleep 0.01; done
"""
BAR = r"""
n=0
until [ -e /opt/ml/output/go ]; do n=$((n % 19 + 1)); printf '\rstep %02d of 20' $n; sleep 0.3; done
printf '\rstep 20 of 20\n'; echo all done
"""
HELD = "until [ -e /opt/ml/output/go ]; do sleep 0.1; done"


@pytest.fixture
def start(tmp_path: Path, smlocal_home: Path, image: Callable[[str], str]) -> Start:
    """Starts a job in a terminal."""

    def begin(
        script: str, *options: str, columns: int, environment: dict[str, str] | None = None, grace: float = 3
    ) -> Terminal:
        request = {
            "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
            "Local": {"StopGraceSeconds": grace},
        }
        (tmp_path / "job.json").write_text(json.dumps(request))
        kept = {key: os.environ[key] for key in ("PATH", "DOCKER_HOST", "HOME") if key in os.environ}
        terminal = Terminal(columns=columns)
        terminal.start(
            [sys.executable, "-m", "smlocal", "run", "job.json", *options],
            cwd=str(tmp_path),
            environment={
                **kept,
                "SMLOCAL_HOME": str(smlocal_home),
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                **(environment or {}),
            },
        )
        return terminal

    return begin


def let_go(home: Path, job: str) -> None:
    """Make the file for which a job waits."""
    touch_inside(home / "jobs" / job / "hosts" / "algo-1" / "output" / "go")


def countdown(line: str) -> str:
    """The seconds that are left, if it is this line."""
    found = re.fullmatch(r"◌.* (\d+) s", line)
    return found[1] if found else ""


def numbers(lines: list[str]) -> list[int]:
    return [int(line.removeprefix("line ")) for line in lines if re.fullmatch(r"line \d+", line)]


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("columns", [10, 80, 200])
def test_the_countdown_stays_at_the_bottom_of_a_chatty_job(columns: int, start: Start) -> None:
    terminal = start(CHATTY, "--name", f"chatty-{columns}", columns=columns, grace=100)
    terminal.until(lambda: terminal.lines[-1].startswith("● Train") and terminal.lines[-2].startswith("line "))
    terminal.type(b"\x03")
    seen: list[str] = []

    def goes_on() -> bool:
        above, bottom = ["", *terminal.lines][-2:]
        return above.startswith("line ") and countdown(bottom) not in {"", *seen}

    for _ in range(3):
        terminal.until(goes_on)
        seen.append(countdown(terminal.lines[-1]))
    terminal.type(b"\x03")
    assert terminal.end() == 130
    shown = numbers(terminal.all_lines())
    assert shown == list(range(1, len(shown) + 1))
    assert len(shown) > 100
    assert sum(line.startswith("◌") for line in terminal.all_lines()) == 1


@pytest.mark.slow(2)
def test_the_time_is_below_a_line_that_grows(start: Start, smlocal_home: Path) -> None:
    terminal = start(BAR, "--name", "growing", columns=80)

    def step_and_time() -> bool:
        above, bottom = ["", *terminal.lines][-2:]
        return bool(re.fullmatch(r"step \d+ of 20", above) and re.fullmatch(r"● Training       \d+ s", bottom))

    terminal.until(step_and_time)
    shown = terminal.lines
    terminal.until(lambda: step_and_time() and terminal.lines[-2] != shown[-2] and terminal.lines[-1] != shown[-1])
    terminal.resize(columns=40)
    shown = terminal.lines
    terminal.until(lambda: step_and_time() and terminal.lines[-1] != shown[-1])
    let_go(smlocal_home, "growing")
    assert terminal.end() == 0
    lines = terminal.all_lines()
    at = lines.index("● Training")
    assert lines[at + 1 : at + 3] == ["step 20 of 20", "all done"]
    assert lines[at + 3].startswith("✔ Training")


@pytest.mark.slow(2)
@pytest.mark.parametrize("columns", [10, 24, 80])
def test_a_terminal_that_changes_its_size_while_a_job_runs(columns: int, start: Start, smlocal_home: Path) -> None:
    name = f"resized-{columns}"
    output = smlocal_home / "jobs" / name / "hosts" / "algo-1" / "output"
    told = "[ $((n % 100)) != 10 ] || until [ -e /opt/ml/output/$n ]; do sleep 0.05; done"
    script = (
        f"touch /opt/ml/output/10; n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo line $n; sleep 0.01; {told}; done"
    )
    terminal = start(script, "--name", name, columns=100)
    terminal.until(lambda: terminal.lines[-1].startswith("● Training   ") and "line 110" in terminal.lines)
    terminal.resize(columns=columns)
    touch_inside(output / "110")
    terminal.until(lambda: "line 210" in terminal.lines)
    terminal.resize(columns=200)
    touch_inside(output / "210")
    assert terminal.end() == 0
    assert numbers(terminal.all_lines()) == list(range(1, 301))
    assert not any("line" in line and "●" in line for line in terminal.all_lines())


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("mode", ["auto", "plain", "quiet"])
def test_a_dumb_terminal_gets_only_lines(mode: str, start: Start) -> None:
    terminal = start(
        "echo said; sleep 2", "--progress", mode, "--name", f"dumb-{mode}", columns=80, environment={"TERM": "dumb"}
    )
    assert terminal.end() == 0
    assert b"\x1b" not in terminal.raw
    assert ("● Training" in terminal.lines) == (mode != "quiet")
    assert "said" in terminal.lines


def test_no_colour_at_the_bottom_either(start: Start, smlocal_home: Path) -> None:
    both = {"NO_COLOR": "1", "FORCE_COLOR": "1"}
    terminal = start(HELD, "--name", "colourless", columns=80, environment=both)
    terminal.until(lambda: re.fullmatch(r"● Training +[1-9]\d* s", terminal.lines[-1]) is not None)
    let_go(smlocal_home, "colourless")
    assert terminal.end() == 0
    assert not re.search(rb"\x1b\[[0-9;]*m", terminal.raw)
    assert terminal.lines[0] == "! NO_COLOR and FORCE_COLOR are both set: no colours"
