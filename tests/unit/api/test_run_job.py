"""Ctrl-C between any two lines of the thread that waits: the job is stopped, and has ended when `run` raises."""

import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType
from typing import Any

import pytest

from smlocal.api import run_job as module
from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.decide.events import StopAsked
from smlocal.terms.statuses import StopCause

MOST_LINES = 60


class Interrupt:
    """Raises KeyboardInterrupt once, at the nth line that this thread comes to in the module."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        if frame.f_code.co_filename != module.__file__:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


@pytest.mark.parametrize("line", range(1, MOST_LINES))
def test_an_interrupt_at_any_line(line: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.001)
    began, over = threading.Event(), threading.Event()
    heard: list[Any] = []
    messages: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def work() -> str:
        began.set()
        heard.append(requests.events.next(10))
        over.set()
        return "done"

    with StopRequests() as requests:
        before = sys.gettrace()
        sys.settrace(Interrupt(line))
        try:
            with pytest.raises(KeyboardInterrupt):
                module.run_in_thread(work, requests, messages)
        finally:
            sys.settrace(before)
        if began.is_set():
            assert over.is_set()
            assert heard == [StopAsked(cause=StopCause.REQUEST)]


def test_what_the_work_raises_and_returns() -> None:
    messages: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
    said: list[threading.Thread] = []

    def work() -> int:
        messages.put(lambda: said.append(threading.current_thread()))
        return 3

    with StopRequests() as requests:
        assert module.run_in_thread(work, requests, messages) == 3
        assert said == [threading.current_thread()]
        with pytest.raises(ZeroDivisionError):
            module.run_in_thread(lambda: 1 // 0, requests, messages)
