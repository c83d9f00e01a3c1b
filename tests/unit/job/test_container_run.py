"""The end of a container's output, after the container has ended."""

import threading
import time
from typing import Any, cast

import pytest

from smlocal.job import container_run
from smlocal.job.container_run import ContainerRun


def run_without_engine(warnings: list[str]) -> ContainerRun:
    return ContainerRun(engine=cast("Any", None), name="algo-1", on_warning=warnings.append)


def test_output_that_is_still_read_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_run, "_SILENCE_SECONDS", 0.5)
    warnings: list[str] = []
    run = run_without_engine(warnings)

    def read() -> None:
        for _ in range(15):
            time.sleep(0.1)
            run._reads += 1  # as the thread that reads the output does

    reader = threading.Thread(target=read)
    reader.start()
    run._drain(reader)
    assert not reader.is_alive()
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
