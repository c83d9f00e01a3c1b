import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.doors.cli.terminal import Terminal

from smlocal.cli.terminal.links import DOCUMENTATION

KITTY = {"TERM": "xterm-kitty"}
LINK = re.compile(r"\x1b\]8;;([^\x1b]+)\x1b\\([^\x1b]*)\x1b\]8;;\x1b\\")
_KEPT = ("PATH", "HOME", "PYTHONPATH", "LANG")


def on_a_terminal(home: Path, *words: str, **env: str) -> Terminal:
    terminal = Terminal(columns=80)
    environment = {
        "SMLOCAL_PAGER": "",
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "SMLOCAL_HOME": str(home),
        "TERM": "xterm-256color",
        **env,
    }
    terminal.start([sys.executable, "-m", "smlocal", *words], cwd=str(home), environment=environment)
    terminal.end(seconds=120)
    return terminal


def links(terminal: Terminal) -> dict[str, str]:
    """What the text of each link opens."""
    return {text: target for target, text in LINK.findall(terminal.raw.decode())}


@pytest.fixture
def job(tmp_path: Path, remember: Callable[..., None]) -> Path:
    """A home with a job, whose model has a name with a space and a non-ASCII letter."""
    log = str(tmp_path / "jobs" / "done" / "logs" / "algo-1.log")
    model = str(tmp_path / "out of ä" / "model.tar.gz")
    remember(
        "done",
        local={
            "Hosts": [{"Name": "algo-1", "ExitCode": 0, "Log": log}],
            "Artifacts": {"Model": model, "ModelBytes": 3, "Output": None, "OutputBytes": 0, "Notes": []},
        },
    )
    return tmp_path


@pytest.mark.slow(0.5)
def test_paths_and_pages_are_links_where_the_terminal_has_them(job: Path) -> None:
    log = f"{job}/jobs/done/logs/algo-1.log"
    found = links(on_a_terminal(job, "describe", "done", **KITTY))
    assert found[log].startswith("file://")
    assert unquote(found[log]).endswith(log)
    found = links(on_a_terminal(job, "help", "endpoint", **KITTY))
    assert found[f"{DOCUMENTATION}deploy/"] == f"{DOCUMENTATION}deploy/"
    found = links(on_a_terminal(job, "describe", "absent", **KITTY))
    assert found["smlocal help job-unknown"].endswith("/errors/#job-unknown")
    found = links(on_a_terminal(job, "report", "done", "--html", "a report.html", **KITTY))
    assert found["a report.html"].endswith(f"{job}/a%20report.html")


@pytest.mark.slow(0.5)
def test_a_terminal_shows_the_same_as_without_links(job: Path) -> None:
    for words in (("describe", "done"), ("describe", "absent"), ("help", "gpu"), ("help", "engine-unreachable")):
        with_links, without = on_a_terminal(job, *words, **KITTY), on_a_terminal(job, *words)
        assert links(with_links)
        assert with_links.all_lines() == without.all_lines()
        assert LINK.sub(r"\2", with_links.raw.decode()) == without.raw.decode()


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "env",
    [
        {"TERM": "alacritty"},
        {"VTE_VERSION": "5202"},
        {"TERM_PROGRAM": "vscode"},
        {"WT_SESSION": "x"},
        {"SMLOCAL_HYPERLINKS": "always"},
        {"SMLOCAL_HYPERLINKS": "always", "TERM": "screen"},
    ],
    ids=str,
)
def test_terminals_that_have_links(env: dict[str, str], job: Path) -> None:
    assert links(on_a_terminal(job, "describe", "absent", **env))


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "env",
    [
        {},
        {"VTE_VERSION": "4999"},
        {"VTE_VERSION": "x"},
        {"TERM_PROGRAM": "Apple_Terminal"},
        {"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"},
        {"TMUX": "x", "WT_SESSION": "x"},
        KITTY | {"NO_COLOR": "1"},
        KITTY | {"CI": "true"},
        {"TERM": "dumb", "WT_SESSION": "x"},
        KITTY | {"SMLOCAL_HYPERLINKS": "never"},
        {"SMLOCAL_HYPERLINKS": "always", "NO_COLOR": "1"},
        {"SMLOCAL_HYPERLINKS": "always", "TERM": "dumb"},
        {"SMLOCAL_HYPERLINKS": "always", "CI": "1"},
    ],
    ids=str,
)
def test_elsewhere_there_are_none(env: dict[str, str], job: Path) -> None:
    terminal = on_a_terminal(job, "describe", "absent", **env)
    assert b"smlocal help job-unknown" in terminal.raw
    assert b"\x1b]" not in terminal.raw


@pytest.mark.slow(0.5)
def test_a_pipe_never_gets_links(job: Path) -> None:
    environment = {**os.environ, **KITTY, "SMLOCAL_HYPERLINKS": "always", "SMLOCAL_HOME": str(job)}
    environment.pop("CI", None)
    for words in (("describe", "done"), ("describe", "absent"), ("help", "gpu")):
        command = [sys.executable, "-m", "smlocal", *words]
        done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=120)
        assert b"\x1b]" not in done.stdout + done.stderr


def test_a_reason_cannot_bring_a_link(tmp_path: Path, remember: Callable[..., None]) -> None:
    remember("bad", reason="AlgorithmError: \x1b]8;;https://bad.example\x1b\\click\x1b]8;;\x1b\\")
    terminal = on_a_terminal(tmp_path, "describe", "bad", **KITTY)
    assert links(terminal) == {}
    assert "bad.example" in "\n".join(terminal.all_lines())
