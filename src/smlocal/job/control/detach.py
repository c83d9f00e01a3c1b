"""Start a process that goes on when this one has ended: the supervisor of a detached job, or of an orphan."""

import os
import sys
from collections.abc import Callable
from typing import Any

from smlocal.errors import SmlocalError

_BEGUN, _NO_NEED = b"\0", b"\1"
_SPAWN_SECONDS = 120.0

process_may_fork = False
"""True in the process of the command, which has no threads while it forks. Any other process has its caller's."""


def leave_behind(work: Callable[..., None], **given: Any) -> None:
    """Run `work(begun, **given)` in a process of its own; return once it calls `begun`, or raise what it raised before.

    It has its own session, so that neither Ctrl-C nor a closing terminal reaches it. Where this process may not fork, a
    new Python is started: then `work` is a function of a module, and what is given can be pickled.
    """
    if process_may_fork:
        fork(work, given)
    else:
        _spawn(work, given)


def _spawn(work: Callable[..., None], given: dict[str, Any]) -> None:
    import pickle
    import subprocess

    command = [sys.executable, "-P", "-m", "smlocal.job.control.background"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        try:
            answer, said = process.communicate(pickle.dumps((work, given)), timeout=_SPAWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SmlocalError(f"the process in the background did not begin within {_SPAWN_SECONDS:g} s") from None
    if answer:
        raise pickle.loads(answer)  # noqa: S301 - written by our own child a moment ago
    if process.returncode:
        lines = said.decode(errors="replace").splitlines()
        raise SmlocalError("the process in the background could not be started", details=lines[-1:])


def fork(work: Callable[..., None], given: dict[str, Any]) -> None:
    """What `leave_behind` does, for a process that has started no threads."""
    import pickle

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
            raise SmlocalError("the process in the background ended before it began its work")
        raise pickle.loads(said)  # noqa: S301 - written by our own child a moment ago
    # A second fork leaves the grandchild to init: nobody has to wait for it.
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(reading)
    _forget_the_terminal()
    _work(work, given, writing)
    os._exit(0)


def _work(work: Callable[..., None], given: dict[str, Any], writing: int) -> None:
    begun = False

    def begin() -> None:
        nonlocal begun
        begun = True
        os.write(writing, _BEGUN)
        os.close(writing)

    try:
        work(begin, **given)
        if not begun:
            os.write(writing, _NO_NEED)
    except BaseException as error:  # noqa: BLE001 - the parent must hear of anything
        if not begun:
            import pickle

            os.write(writing, pickle.dumps(error))
        os._exit(1)


def _forget_the_terminal() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the process's whole life
