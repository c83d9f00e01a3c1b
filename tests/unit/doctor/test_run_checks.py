"""The row of checks as a whole: all are asked, all are documented, and none ends the others."""

import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from smlocal.doctor import checks, place
from smlocal.doctor.judgement import problem, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.run_checks import CHECKS, ready, run_checks

ROOT = Path(__file__).parents[3]


def test_every_check_is_in_the_row() -> None:
    there = {name for module in (checks, place) for name in vars(module) if name.startswith("check_")}
    assert there == {f"check_{name}" for name in CHECKS} == {check.__name__ for check in CHECKS.values()}


def test_the_page_lists_every_check_in_its_order() -> None:
    lines = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8").splitlines()
    listed = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert listed == [name.replace("_", "-") for name in CHECKS]


@pytest.fixture
def dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Machine]:
    """A machine whose engine does not answer."""

    def make(address: str) -> Machine:
        monkeypatch.setenv("DOCKER_HOST", address)
        monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))
        return Machine(environment={})

    return make


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("unix:///nowhere/none.sock", "no Docker engine answers at unix:///nowhere/none.sock"),
        ("npipe:////./pipe/docker", "is a Windows pipe"),
        ("tcp://here:port", "tcp://here:port is not a valid engine address"),
    ],
)
def test_without_an_engine_the_rest_is_still_looked_at(dead: Callable[..., Machine], address: str, says: str) -> None:
    found = dict(run_checks(dead(address)))
    assert found["engine"].severity == "problem"
    assert says in found["engine"].sentence
    assert found["engine"].remedy
    unasked = {name for name, finding in found.items() if finding.severity == "unknown"}
    assert unasked >= {
        "version",
        "container",
        "overlay",
        "gpu",
        "shared_memory",
        "memory",
        "cgroup",
        "storage",
        "clock",
    }
    assert found["home"].severity == "ok"
    assert found["disk"].severity in {"ok", "warning"}
    assert not ready(found.values())


PING = b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nServer: Docker/20.10.24 (linux)\r\nContent-Length: 2\r\n\r\nOK"


@pytest.mark.slow(0.5)
def test_an_engine_that_hangs_is_not_waited_for_again(dead: Callable[..., Machine], short_folder: Path) -> None:
    path = short_folder / "d.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer_the_first_question_only() -> None:
            with listener.accept()[0] as connection:
                connection.recv(65536)
                connection.sendall(PING)

        greeter = Thread(target=answer_the_first_question_only)
        greeter.start()
        found = dict(run_checks(dead(f"unix://{path}"), timeout=3))  # passes: nobody answers
        greeter.join()
    assert found["engine"].sentence == "no answer within 3 s"
    assert {found[name].severity for name in ("container", "gpu", "memory")} == {"unknown"}
    assert found["region"].severity == "warning"


def test_a_warning_is_a_problem_for_whoever_needs_it(dead: Callable[..., Machine]) -> None:
    machine = dead("unix:///nowhere/none.sock")
    assert dict(run_checks(machine))["region"].severity == "warning"
    assert dict(run_checks(machine, {"region"}))["region"].severity == "problem"
    assert ready([warning("so what"), unknown("who knows")])
    assert not ready([problem("ouch")])
