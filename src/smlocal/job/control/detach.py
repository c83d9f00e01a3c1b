"""Leave a process behind that goes on when the command has ended: the supervisor of a detached job."""

import os
import pickle
import sys
from collections.abc import Callable

from smlocal.errors import SmlocalError

_BEGUN, _NO_NEED = b"\0", b"\1"


def leave_behind(work: Callable[[Callable[[], None]], None]) -> None:
    """Run `work` in a process of its own; return once it says that it has begun, or raise what it raised before that.

    `work` gets the function to be called when it has begun. The process has its own session, so that neither Ctrl-C
    nor a closing terminal reaches it. For a process that has started no threads.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            said = answer.read()
        os.waitpid(child, 0)
        if said in {_BEGUN, _NO_NEED}:
            return
        if not said:
            raise SmlocalError("the process that was to go on in the background ended without a word")
        raise pickle.loads(said)  # noqa: S301 - written by our own child a moment ago
    # A second fork leaves the grandchild to init: nobody has to wait for it.
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(reading)
    _forget_the_terminal()
    _work(work, writing)
    os._exit(0)


def _work(work: Callable[[Callable[[], None]], None], writing: int) -> None:
    begun = False

    def begin() -> None:
        nonlocal begun
        begun = True
        os.write(writing, _BEGUN)
        os.close(writing)

    try:
        work(begin)
        if not begun:
            os.write(writing, _NO_NEED)
    except BaseException as error:  # noqa: BLE001 - the parent must hear of anything
        if not begun:
            os.write(writing, pickle.dumps(error))
        os._exit(1)


def _forget_the_terminal() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the process's whole life
