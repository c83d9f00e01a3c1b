"""The screen of a person while a job stops."""

import json
import os
import pty
import re
import signal
import sys
import termios
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.kit import Run
from tests.kit.fixtures import touch_inside

DEAF = "trap '' INT TERM; printf 'ready without an end'; while :; do sleep 0.05; done"


def session(
    command: list[str], cwd: Path, home: Path, answers: Sequence[tuple[bytes, bytes | Callable[[], None]]]
) -> tuple[int, str]:
    """Run under a terminal; type or do each answer once its cue has been shown. Exit code and everything shown."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover - another process
        os.chdir(cwd)
        os.environ.update({"SMLOCAL_HOME": str(home), "TERM": "xterm", "COLUMNS": "120"})
        os.execv(command[0], command)
    termios.tcsetwinsize(terminal, (24, 120))
    shown = b""
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # what Linux says when the last process has closed it
            piece = b""
        if not piece:
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status), shown.decode()
        shown += piece
        while answers and answers[0][0] in shown:
            (_, answer), *answers = answers
            os.write(terminal, answer) if isinstance(answer, bytes) else answer()
    os.kill(child, signal.SIGKILL)
    pytest.fail(f"no end: {shown.decode()}")


@pytest.mark.slow(2)
def test_a_stop_counts_down_in_place(tmp_path: Path, smlocal_home: Path, image: Callable[[str], str]) -> None:
    request = {
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": DEAF},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "Local": {"StopGraceSeconds": 5},
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    code, shown = session(
        [sys.executable, "-m", "smlocal", "run", "job.json", "--name", "deaf"],
        tmp_path,
        smlocal_home,
        [(b"ready without an end", b"\x03")],
    )
    assert code == 130
    # The container's last line has no end, and the terminal shows the key: ours starts below both.
    # On a busy machine the line of the run may have been drawn between the two; it is then erased after the key.
    assert re.search(r"ready without an end.*?\^C(\x1b7[\r\n]+\x1b\[J\x1b8)?\r\n", shown, re.DOTALL)
    counted = [int(seconds) for seconds in re.findall(r"◌ Stopping .*?   (\d+) s", shown)]
    assert len(counted) > 1
    assert set(counted) <= set(range(6))
    assert counted == sorted(counted, reverse=True)  # a busy machine may skip one
    assert "(Ctrl-C again to kill now)" in shown
    # In place: one line of it stays.
    assert len(re.findall(r"◌ Stopping [^\r]*\r\n", shown)) == 1
    assert " in " in shown.rpartition("Stopped")[2].splitlines()[0]


@pytest.mark.slow(2)
def test_a_second_press_kills_at_once(
    tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    code, shown = session(
        [
            *(sys.executable, "-m", "smlocal", "run", "--image", image("sh"), "--name", "deaf"),
            *("-e", f"SCRIPT={DEAF}", "--report", "result.json"),
        ],
        tmp_path,
        smlocal_home,
        [(b"ready without an end", b"\x03"), (b"Ctrl-C again to kill now", b"\x03")],
    )
    assert code == 130, shown
    answer = json.loads(smlocal_run("describe", "deaf", "--json").stdout)
    assert answer["Local"]["Hosts"][0]["Killed"] is True
    assert json.loads((tmp_path / "result.json").read_text()) == answer


BAR = r"""
shown() { until [ -e /opt/ml/output/$1 ]; do sleep 0.05; done; }
printf '\r10%%' >&2; shown first
echo -n 'loss=0'; sleep 0.5; echo '.5'; shown loss
printf '\r20%%' >&2; shown second
echo done; shown done
printf '\n' >&2
"""


@pytest.mark.slow(1)
def test_a_progress_bar_moves_and_lines_of_the_other_stream_are_whole(
    tmp_path: Path, smlocal_home: Path, image: Callable[[str], str]
) -> None:
    command = [sys.executable, "-m", "smlocal", "run", "--quiet", "--image", image("sh"), "--name", "bar"]
    told = smlocal_home / "jobs" / "bar" / "hosts" / "algo-1" / "output"
    cues = {b"10%": "first", b"loss=0.5\r\n10%": "loss", b"20%": "second", b"done\r\n20%": "done"}
    answers = [(cue, partial(touch_inside, told / name)) for cue, name in cues.items()]
    code, shown = session([*command, "-e", f"SCRIPT={BAR}"], tmp_path, smlocal_home, answers)
    assert code == 0
    wipe = "\r\x1b[K"
    assert shown == f"\r10%{wipe}loss=0.5\r\n10%\r20%{wipe}done\r\n20%\r\n"


def test_a_failure_file_does_not_command_the_terminal(
    tmp_path: Path, smlocal_home: Path, image: Callable[[str], str]
) -> None:
    script = (
        r"printf '\033[32mgreen\033[0m\n'; "
        r"printf 'bad\033]0;title\007 \033[2J\302\2331mrow\n' >/opt/ml/output/failure; exit 1"
    )
    command = [sys.executable, "-m", "smlocal", "run", "--image", image("sh"), "--name", "hostile"]
    code, shown = session([*command, "-e", f"SCRIPT={script}"], tmp_path, smlocal_home, [])
    assert code == 1
    # The output of a container is shown as it is; smlocal's words about the failure are not obeyed.
    assert "\x1b[32mgreen\x1b[0m" in shown
    assert r"AlgorithmError: bad\x1b]0;title\x07 \x1b[2J\x9b1mrow" in shown
    assert not any(raw in shown for raw in ("\x1b]0;", "\x07", "\x1b[2J", "\x9b"))
