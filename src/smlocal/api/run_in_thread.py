"""Supervises a job in a thread. The calling thread waits, prints, and receives Ctrl-C."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from smlocal.job.control.stop_requests import StopRequests

Outcome = TypeVar("Outcome")
_LOOK_SECONDS = 1.0
"""The end wakes the caller at once. This is for an exception just before the caller begins to wait again."""


def run_in_thread(
    work: Callable[[], Outcome],
    requests: StopRequests,
    messages: "SimpleQueue[Callable[[], None] | None]",
) -> Outcome:
    """Return what `work` returns. Meanwhile this thread calls the messages.

    Python raises KeyboardInterrupt in the main thread, wherever that is. Here it stops the job, the second one kills
    it, and it goes on to the caller once the job has ended. So does any other exception of a signal handler.
    """
    outcomes: list[Outcome] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            outcomes.append(work())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            errors.append(error)
        finally:
            ended.set()
            messages.put(None)

    interrupts: list[BaseException] = []
    thread = threading.Thread(target=run, name="smlocal", daemon=threading.current_thread().daemon)
    try:
        thread.start()
        _wait(ended, interrupts, requests, messages)
    except BaseException as error:  # noqa: BLE001 - it came between two lines of `_wait`
        interrupts.append(error)
        if thread.is_alive():
            _wait(ended, interrupts, requests, messages)
    if interrupts:
        raise interrupts[0]
    if errors:
        raise errors[0]
    return outcomes[0]


def _wait(
    ended: threading.Event,
    interrupts: list[BaseException],
    requests: StopRequests,
    messages: "SimpleQueue[Callable[[], None] | None]",
) -> None:
    """Wait for the end. Each exception is a request to stop."""
    asked = 0
    while True:
        # Python raises between any two instructions, so everything is inside the `try`, the condition too.
        try:
            while not (ended.is_set() and messages.empty()):
                while asked < len(interrupts):
                    asked += 1
                    requests.stop()
                _serve(messages)
            return  # noqa: TRY300 - in an `else` it would not be covered
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            interrupts.append(error)


def _serve(messages: "SimpleQueue[Callable[[], None] | None]") -> None:
    try:
        message = messages.get(timeout=_LOOK_SECONDS)
    except Empty:
        return
    if message is not None:
        message()
