"""The last words of a container that has ended already."""

import threading
import time
from typing import Any, cast

import pytest

from smlocal.job.host import host_run
from smlocal.job.host.host_run import HostRun
from smlocal.job.reporter import Silent


def run_of_nothing() -> HostRun:
    nothing = cast("Any", None)
    host = cast("Any", type("Named", (), {"host": type("Name", (), {"name": "algo-1"})}))
    return HostRun(plan=nothing, host=host, engine=nothing, events=nothing, reporter=Silent(), delivery=nothing)


def test_who_still_reads_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_run, "_DRAIN_SECONDS", 0.5)
    run = run_of_nothing()

    def read() -> None:
        for _ in range(15):
            time.sleep(0.1)
            run._pieces += 1  # as the thread that reads the log does

    reader = threading.Thread(target=read)
    reader.start()
    run._drain(reader)
    assert not reader.is_alive()


def test_streams_that_stay_open_and_silent_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_run, "_DRAIN_SECONDS", 0.1)
    over = threading.Event()
    reader = threading.Thread(target=over.wait)
    reader.start()
    run_of_nothing()._drain(reader)
    assert reader.is_alive()
    over.set()
    reader.join()
