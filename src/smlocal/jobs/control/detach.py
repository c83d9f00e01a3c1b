"""Start a process that outlives this one: the supervisor of a detached job, or of a job that has lost its own.

`python -m smlocal.jobs.control.detach` is a Python without threads, which forks for a process that has some.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.errors import SmlocalError

if TYPE_CHECKING:
    import subprocess
else:
    subprocess = at_use("subprocess")

_READY, _NOTHING_TO_DO = b"\0", b"\1"
_SPAWN_SECONDS = 120.0

process_may_fork = False
"""True in the process of the command, which has no threads when it forks. Other processes may have threads."""


def start_in_background(work: Callable[..., None], **arguments: Any) -> None:
    """Run `work(ready, **arguments)` in a new process; return when it calls `ready`, or raise what it raised before.

    The process has its own session, so neither Ctrl-C nor a closed terminal ends it. If this process may not fork, the
    arguments are pickled, and `work` must be a function of a module.
    """
    if process_may_fork:
        _fork(work, arguments)
    else:
        _spawn(work, arguments)


def _spawn(work: Callable[..., None], arguments: dict[str, Any]) -> None:
    command = [sys.executable, "-P", "-m", "smlocal.jobs.control.detach"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        try:
            answer, errors = process.communicate(_pickled((work, arguments)), timeout=_SPAWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SmlocalError(f"the process in the background did not begin within {_SPAWN_SECONDS:g} s") from None
    if answer:
        raise _unpickled(answer)
    if process.returncode:
        lines = errors.decode(errors="replace").splitlines()
        raise SmlocalError("the process in the background could not be started", details=lines[-1:])


def _spawned() -> None:
    """In the spawned process: fork, and write the error to stdout if there was one."""
    # Signals that the thread of the caller had blocked would never arrive.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    work, arguments = _unpickled(sys.stdin.buffer.read())
    try:
        _fork(work, arguments)
    except BaseException as error:  # noqa: BLE001 - the parent raises it
        sys.stdout.buffer.write(_pickled(error))


def _fork(work: Callable[..., None], arguments: dict[str, Any]) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        if not answer:
            raise SmlocalError("the process in the background ended before it began its work")
        if answer not in {_READY, _NOTHING_TO_DO}:
            raise _unpickled(answer)
        return
    # A second fork makes the process a child of init, so no process here has to wait for it.
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(reading)
    _detach_from_terminal()
    _work(work, arguments, writing)
    os._exit(0)


def _work(work: Callable[..., None], arguments: dict[str, Any], writing: int) -> None:
    is_ready = False

    def ready() -> None:
        nonlocal is_ready
        is_ready = True
        with suppress(BrokenPipeError):  # whoever started it has been killed; the work goes on
            os.write(writing, _READY)
        os.close(writing)

    try:
        work(ready, **arguments)
        if not is_ready:
            os.write(writing, _NOTHING_TO_DO)
    except BaseException as error:  # noqa: BLE001 - the parent raises it
        if not is_ready:
            os.write(writing, _pickled(error))
        os._exit(1)


def _pickled(what: object) -> bytes:
    import pickle  # for a process that has threads, and for errors

    return pickle.dumps(what)


def _unpickled(data: bytes) -> Any:
    import pickle

    return pickle.loads(data)  # noqa: S301 - written by our own parent or child


def _detach_from_terminal() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the process's whole life


if __name__ == "__main__":
    _spawned()
