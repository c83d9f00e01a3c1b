"""A container writes millions of short lines, and the connection to its output breaks: its end is not held up."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smlocal.engine.engines import connect, connect_to
from smlocal.engine.interface import JOB_LABEL, ContainerSpec
from smlocal.jobs import container_run
from smlocal.jobs.container_run import ContainerRun
from smlocal.jobs.decide.events import ContainerExited

LINES = 2_000_000
FLOOD = f"echo ready; read -r go </go/fifo; yes | head -n {LINES}; sleep 2; exit 3"
Flood = Callable[..., tuple[ContainerRun, list[str]]]


@pytest.fixture
def flood(relay: Any, image: Callable[[str], str], tmp_path: Path) -> Iterator[Flood]:
    """Runs the container to its end; it floods when nothing reads its output any more."""
    runs = []

    def run(on_exit: Callable[[ContainerRun], None] = lambda _: None) -> tuple[ContainerRun, list[str]]:
        warnings: list[str] = []
        ready, over = threading.Event(), threading.Event()
        made = ContainerRun(
            engine=connect_to(relay.address),
            name="algo-1",
            log=str(tmp_path / "logs" / "algo-1.log"),
            on_output=lambda written: ready.set() if b"ready" in written.lines else None,
            on_event=lambda _: over.set(),
            on_warning=warnings.append,
        )
        made.on_exit = lambda: on_exit(made)
        runs.append(made)
        made.create(
            ContainerSpec(
                name=f"smlocal-flood-{tmp_path.name}",
                image=image("sh"),
                labels={JOB_LABEL: "flood"},
                entrypoint=("sh", "-c"),
                command=(f"mkdir /go; mkfifo /go/fifo; {FLOOD}",),
                environment={},
                hostname="algo-1",
            )
        )
        made.start()
        assert ready.wait(60)
        relay.cut("attach")
        made._threads[0].join()
        shell = connect().execute(made.id, ["sh", "-c", "echo go >/go/fifo"], terminal=False)
        while shell.read() is not None:
            pass
        shell.close()
        assert over.wait(280), "the end of the container was held up"
        return made, warnings

    yield run
    for each in runs:
        each.remove()


@pytest.mark.slow(3)
def test_the_look_for_missed_lines_ends_in_time(flood: Flood, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_run, "_LOOK_SECONDS", 0.0)
    run, warnings = flood()
    assert run.wait() == ContainerExited(container="algo-1", exit_code=3)
    (warning,) = warnings
    assert "lines after that may be missing" in warning


@pytest.mark.slow(3)
def test_a_kill_ends_the_look(flood: Flood, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may take any time, until the wait is given up."""
    monkeypatch.setattr(container_run, "_LOOK_SECONDS", float("inf"))
    monkeypatch.setattr(container_run, "_HURRY_SECONDS", 0.0)
    run, warnings = flood(ContainerRun.hurry)
    assert run.wait() == ContainerExited(container="algo-1", exit_code=3)
    (warning,) = warnings
    assert "lines after that may be missing" in warning


@pytest.mark.slow(8)
def test_what_can_be_read_in_time_is_not_missing(flood: Flood) -> None:
    run, warnings = flood()
    assert run.wait() == ContainerExited(container="algo-1", exit_code=3)
    assert len(Path(run.log).read_bytes().splitlines()) == LINES + 1 or "may be missing" in warnings[0]


@pytest.mark.slow(3)
def test_an_engine_that_reports_the_end_late_has_lost_nothing(flood: Flood, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its clock says when the container ended: nothing is read again."""
    monkeypatch.setattr(container_run, "_BROKEN_SECONDS", 100.0)
    run, warnings = flood()
    assert warnings == []
    assert run._broke(run._read_until + 1000) is False
    monkeypatch.setattr(container_run, "_BROKEN_SECONDS", 1.0)
    assert run._broke(run._read_until + 1000) is True
