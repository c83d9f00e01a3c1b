"""Runs a program for as long as its owner lives, and leaves nothing of it behind.

Run by its path as `program_guard.py LIFELINE STATUS FOLDER WORD…`, with two numbers of open pipes. It imports nothing
of smlocal: it begins in a hundredth of a second. The program gets the standard input, output and errors.

LIFELINE: each `t` that arrives asks the program to end. If the pipe is closed, whoever closes it, and be it the end of
the owner by SIGKILL, the program is killed.

STATUS: gets a line `began PID`, or `failed` and why; and `ended CODE`. Then none of its processes is left but those in
sessions that it has made for them: what it has started in the background on purpose, such as a job of smlocal's.
"""

import os
import select
import signal
import sys

_NOT_FOR_US = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""This process ends when the owner has ended: then the program is sure to be gone."""
_PYTHON_CHANGES = (signal.SIGPIPE, signal.SIGXFSZ)
_reaped: list[int] = []
"""The status of the program, where it can only be had by letting go of its number."""


def run(lifeline: int, status: int, folder: str, words: list[str]) -> None:
    """Take the program to its end."""
    for pipe in (lifeline, status):
        os.set_inheritable(pipe, False)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a thread of the owner may have blocked some
    for each in _NOT_FOR_US:
        signal.signal(each, signal.SIG_IGN)
    wakes = _wakes_when_a_child_ends()
    # One that comes while the new process still ignores it would be lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, _NOT_FOR_US)
    main = os.fork()
    if main == 0:
        _become(folder, words, status)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _own_group(main)
    _let_go_of_its_pipes()
    _watch(main, lifeline, wakes)
    code = _clear(main)
    _tell(status, f"ended {code}")


def _become(folder: str, words: list[str], status: int) -> None:
    """In the new process: be the program."""
    try:
        _own_group(0)
        for each in (*_NOT_FOR_US, *_PYTHON_CHANGES, signal.SIGCHLD):
            signal.signal(each, signal.SIG_DFL)
        _tell(status, f"began {os.getpid()}")  # before it can do anything
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.chdir(folder)
        os.execvp(words[0], words)  # noqa: S606 - the words of a user, who has a shell among them if they want one
    except OSError as error:
        _tell(status, f"failed {error.strerror}")
    finally:
        os._exit(127)


def _own_group(process: int) -> None:
    """Done by both processes, so that it is done whoever comes first."""
    try:  # noqa: SIM105 - contextlib takes as long to import as all of this
        os.setpgid(process, process)
    except OSError:  # the other has done it, and the program has begun or ended
        pass


def _wakes_when_a_child_ends() -> int:
    wakes, woken = os.pipe()
    for pipe in (wakes, woken):
        os.set_blocking(pipe, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wakes


def _let_go_of_its_pipes() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    os.close(nothing)


def _tell(status: int, line: str) -> None:
    try:  # noqa: SIM105
        os.write(status, f"{line}\n".encode())
    except OSError:  # the owner has ended
        pass


def _watch(main: int, lifeline: int, wakes: int) -> None:
    """Until the program has ended, or has to."""
    events = select.poll()
    events.register(lifeline, select.POLLIN)
    events.register(wakes, select.POLLIN)
    while not _has_ended(main):
        for pipe, _ in events.poll():
            asked = os.read(pipe, 4096)
            if pipe == lifeline:
                if not asked:
                    return
                _signal(main, signal.SIGTERM)


def _has_ended(main: int) -> bool:
    """True if the program has. It stays a zombie, so that its number, which is that of its group, is not used again."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, main, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    ended, status = os.waitpid(main, os.WNOHANG)  # macOS, before Python 3.13
    if ended:
        _reaped.append(status)
    return bool(ended)


def _clear(main: int) -> int:
    """Kill what is left of it; returns its exit code, negative for a signal."""
    _signal(main, signal.SIGKILL)
    status = _reaped[0] if _reaped else os.waitpid(main, 0)[1]
    return os.waitstatus_to_exitcode(status)


def _signal(process: int, number: int) -> None:
    """To its group; to itself, if it is not in that."""
    for send in (os.killpg, os.kill):
        try:
            send(process, number)
        except OSError:  # there is none
            continue
        return


if __name__ == "__main__":
    run(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
