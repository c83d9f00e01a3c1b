"""Supervise a job beside the calling thread, which waits, shows what is to be shown, and hears of Ctrl-C."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from smlocal.job.control.stop_requests import StopRequests

Outcome = TypeVar("Outcome")
_LOOK_SECONDS = 1.0
"""The end wakes the caller at once. This is for an exception that comes between the waking and the look."""


def run_in_thread(
    work: Callable[[], Outcome],
    requests: StopRequests,
    messages: "SimpleQueue[Callable[[], None] | None]",
) -> Outcome:
    """What `work` returns. Meanwhile messages are called in this thread.

    Python raises KeyboardInterrupt in the main thread, in whatever it does. Here it stops the job, the second one kills
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

    threading.Thread(target=run, name="smlocal", daemon=threading.current_thread().daemon).start()
    interrupts: list[BaseException] = []
    passed_on = 0
    while not (ended.is_set() and messages.empty()):
        try:
            while passed_on < len(interrupts):
                passed_on += 1
                requests.stop()
            message = messages.get(timeout=_LOOK_SECONDS)
            if message is not None:
                message()
        except Empty:
            continue
        except BaseException as error:  # noqa: BLE001 - raised below
            interrupts.append(error)
    if interrupts:
        raise interrupts[0]
    if errors:
        raise errors[0]
    return outcomes[0]
