import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smlocal.jobs.control.requests import WAKE_SIGNAL, StopRequests, StopSignals, write_wakeup
from smlocal.jobs.decide.events import KillAsked, StagingStoppedError, StopAsked, Woken
from smlocal.terms.statuses import StopCause


@pytest.fixture
def requests() -> Iterator[StopRequests]:
    with StopRequests() as requests:
        yield requests


@pytest.fixture
def signals() -> Iterator[StopSignals]:
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, WAKE_SIGNAL
    before = [signal.getsignal(number) for number in numbers]
    with StopSignals() as signals:
        yield signals
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_a_stop_and_then_a_kill_from_another_thread(requests: StopRequests) -> None:
    for _ in range(2):
        thread = threading.Thread(target=requests.stop)
        thread.start()
        assert requests.events.next(60) is not None
        thread.join()
    assert requests.repeated
    assert requests.events.empty()


def test_what_is_heard_first_and_second(requests: StopRequests) -> None:
    requests.stop()
    assert not requests.repeated
    requests.stop()
    assert requests.events.next(0) == StopAsked(cause=StopCause.REQUEST)
    assert requests.events.next(0) == KillAsked()


def test_another_process_wakes_through_the_fifo(requests: StopRequests, tmp_path: Path) -> None:
    assert not write_wakeup(str(tmp_path)), "without a FIFO a signal is sent"
    requests.accept_wakeups(str(tmp_path))
    assert requests.events.empty()
    threading.Timer(0.05, write_wakeup, [str(tmp_path)]).start()
    assert requests.events.next(60) == Woken()
    assert write_wakeup(str(tmp_path))
    assert not requests.events.empty()
    assert requests.events.next(0) == Woken()
    assert requests.events.next(0.01) is None


@pytest.mark.slow(0.5)
def test_a_fifo_that_nobody_reads_or_that_is_full_keeps_nobody_waiting(tmp_path: Path, signals: StopSignals) -> None:
    with StopRequests() as requests:
        requests.accept_wakeups(str(tmp_path))
        for _ in range(70_000):
            write_wakeup(str(tmp_path))
        assert requests.events.next(0) == Woken()
    assert write_wakeup(str(tmp_path)), "its supervisor has gone: no signal is sent to whatever process has its id"
    signals.accept_wakeups(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_clean_up_that_a_signal_breaks_is_no_error_of_the_work(signals: StopSignals) -> None:
    def work() -> None:
        reading, writing = os.pipe()
        try:
            os.close(writing)
            os.kill(os.getpid(), WAKE_SIGNAL)
            writing = -1
        finally:
            os.close(reading)
            if writing >= 0:
                os.close(writing)

    with pytest.raises(StagingStoppedError) as raised, signals.interruptible():
        work()
    assert isinstance(raised.value.__cause__, OSError)
    while signals.events.next(0) is not None:
        pass
    with pytest.raises(OSError, match="full"), signals.interruptible():
        raise OSError("full")


def test_what_reports_progress_is_broken_off_only_where_that_may_be(requests: StopRequests) -> None:
    requests.stop()
    requests.check_interruptible()
    with pytest.raises(StagingStoppedError), requests.interruptible():
        pass
    requests.events.next(0)
    with requests.interruptible():
        requests.check_interruptible()
        requests.stop()
        with pytest.raises(StagingStoppedError):
            requests.check_interruptible()
    requests.check_interruptible()
