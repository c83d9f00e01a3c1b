"""The end of a container's output, after the container has ended."""

import threading
import time
from typing import Any, cast

import pytest

from smlocal.jobs import container_run
from smlocal.jobs.container_run import ContainerRun


def run_without_engine(warnings: list[str]) -> ContainerRun:
    return ContainerRun(engine=cast("Any", None), name="algo-1", on_warning=warnings.append)


class Reading(threading.Thread):
    """A thread that reads the output: once more each time that somebody waits for it, so many times."""

    def __init__(self, run: ContainerRun, times: int) -> None:
        self._over = threading.Event()
        super().__init__(target=self._over.wait)
        self._run = run
        self._left = times

    def join(self, timeout: float | None = None) -> None:
        if not self._left:
            self._over.set()
        super().join(timeout)
        if self._left:
            self._left -= 1
            self._run._reads += 1


@pytest.mark.slow(0.5)
def test_output_that_is_still_read_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_run, "_SILENCE_SECONDS", 0.0)
    warnings: list[str] = []
    run = run_without_engine(warnings)
    reader = Reading(run, 5)
    reader.start()
    run._drain(reader)
    reader.join()
    assert reader._left == 0
    assert warnings == []


def test_streams_that_stay_open_and_silent_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_run, "_SILENCE_SECONDS", 0.1)
    over = threading.Event()
    reader = threading.Thread(target=over.wait)
    reader.start()
    warnings: list[str] = []
    run = run_without_engine(warnings)
    run._drain(reader)
    assert reader.is_alive()
    run._complete_output(reader, ended=time.monotonic())
    assert warnings == ["algo-1: its output streams are still open after its end; later output is not kept"]
    over.set()
    reader.join()
