"""Programs that wait for a debugger: real containers, and real clients at the port on this machine."""

import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.kit.debug_client import Debugger, Pdb
from tests.kit.life import Life

PROGRAM = "/usr/local/bin/train"
SOURCE = Path(__file__).resolve().parents[2] / "kit" / "images" / "debugpy" / "train.py"
LINE = SOURCE.read_text().splitlines().index("        total += number") + 1


@pytest.fixture
def port() -> int:
    """A free one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def members(image: str, port: int, **environment: str) -> Mapping[str, Any]:
    return {
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "Environment": environment,
        "Local": {"DebugPort": port, "StopGraceSeconds": 20},
    }


@pytest.mark.slow(6)
def test_an_editor_attaches_stops_at_a_line_and_goes_on(
    life: Life, image: Callable[[str], str], port: int, tmp_path: Path
) -> None:
    life.detach("debugging-attach", "", **members(image("debugpy"), port))
    life.until_logged("debugging-attach", f"waits for a debugger (debugpy) at 127.0.0.1:{port}")
    assert "total" not in life.log("debugging-attach")
    mapped = [{"localRoot": str(tmp_path), "remoteRoot": "/usr/local/bin"}]
    editor = Debugger(port, pathMappings=mapped)
    (tmp_path / "train").write_text(SOURCE.read_text())
    editor.break_at(str(tmp_path / "train"), LINE)
    assert editor.value("numbers") == (LINE, "[1, 2, 3]")
    editor.go_on()
    life("wait", "debugging-attach")
    answer = life.describe("debugging-attach")
    assert answer["TrainingJobStatus"] == "Completed"
    assert "total 6" in life.log("debugging-attach")
    (note,) = [each["Text"] for each in answer["Local"]["Notes"] if each["Id"] == "debug"]
    assert f"algo-1 at 127.0.0.1:{port}" in note
    assert "the wait counts towards the time limit of 86400 s" in note


@pytest.mark.slow(6)
def test_a_process_that_the_program_starts_is_debugged_too(life: Life, image: Callable[[str], str], port: int) -> None:
    life.detach("debugging-child", "", **members(image("debugpy"), port, CHILD="yes"))
    life.until_logged("debugging-child", "waits for a debugger")
    editor = Debugger(port)
    editor.ask("configurationDone")
    editor.answer(editor.attaching)
    asked = editor.event("debugpyAttach")
    child = Debugger(port, **{key: value for key, value in asked.items() if key != "connect"})
    child.break_at(PROGRAM, LINE)
    assert child.value("total") == (LINE, "0")
    child.go_on()
    editor.go_on()
    life("wait", "debugging-child")
    assert life.log("debugging-child").count("total 6") == 2


@pytest.mark.slow(4)
def test_without_debugpy_a_breakpoint_opens_pdb_at_the_port(life: Life, image: Callable[[str], str], port: int) -> None:
    script = "total = 6\nbreakpoint()\nprint(total + 1)\n"
    life.detach("debugging-pdb", "", **members(image("py"), port, SCRIPT=script))
    life.until_logged("debugging-pdb", f"nc 127.0.0.1 {port}")
    assert f"debugpy is not installed: breakpoint() opens pdb at 127.0.0.1:{port}" in life.log("debugging-pdb")
    person = Pdb(port)
    assert "<string>(3)" in person.until_prompt()
    person.type("total = 40")
    person.until_prompt()
    person.type("continue")
    person.close()
    life("wait", "debugging-pdb")
    assert "41" in life.log("debugging-pdb")


@pytest.mark.slow(4)
def test_the_time_limit_counts_while_the_program_waits(life: Life, image: Callable[[str], str], port: int) -> None:
    limit: dict[str, Any] = {"StoppingCondition": {"MaxRuntimeInSeconds": 8}}
    done = life("run", life.job_file("debugging-limit", "", **members(image("debugpy"), port), **limit))
    assert done.returncode == 4, done.stderr
    assert "Stopped (MaxRuntimeExceeded)" in done.stderr


@pytest.mark.slow(4)
def test_a_program_that_waits_ends_when_it_is_asked_to(life: Life, image: Callable[[str], str], port: int) -> None:
    life.detach("debugging-stop", "", **members(image("debugpy"), port))
    life.until_logged("debugging-stop", "waits for a debugger")
    life("stop", "debugging-stop")
    life("wait", "debugging-stop")
    (host,) = life.describe("debugging-stop")["Local"]["Hosts"]
    assert host["ExitCode"] == 143


def test_a_port_that_somebody_has_is_refused_before_the_job_is_made(life: Life, port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        done = life("run", life.job_file("debugging-taken", "true", Local={"DebugPort": port}))
    assert done.returncode == 3
    assert "[debug-port]" in done.stderr
    assert f"--set Local.DebugPort={port + 100}" in done.stderr
    assert "debugging-taken" not in life("jobs", "--json").stdout


def test_an_isolated_job_has_no_debugger_and_no_other_network(life: Life, port: int) -> None:
    local = {"DebugPort": port, "Networks": ["n"], "AddHosts": {"a": "host-gateway"}}
    done = life("run", life.job_file("debugging-isolated", "true", EnableNetworkIsolation=True, Local=local))
    assert done.returncode == 2
    assert "[isolated-job]" in done.stderr
    assert (
        "Local.Networks, Local.AddHosts, Local.DebugPort and EnableNetworkIsolation exclude each other" in done.stderr
    )


@pytest.mark.slow(3)
def test_a_shell_does_not_wait_and_takes_no_port(life: Life, port: int) -> None:
    path = life.job_file("debugging-shell", "true", Local={"DebugPort": port})
    done = life("shell", path, "--", "env")
    assert done.returncode == 0, done.stderr
    assert "PYTHONPATH" not in done.stdout
    assert "SMLOCAL_DEBUG" not in done.stdout
