"""Threads of this process that Python does not know."""

import glob
import time

_MOST_LOOKS = 5000
_PAUSE = 0.001


def let_finish(name: str) -> None:
    """Wait until threads whose names begin so have nothing to do, without Python's lock, which they may need for it.

    A thread that waits for the lock sleeps like one that has nothing to do, but not twice: it gets the lock in between.
    """
    quiet = 0
    for _ in range(_MOST_LOOKS):
        time.sleep(_PAUSE)
        quiet = quiet + 1 if all(state == "S" for state in _states(name)) else 0
        if quiet == 3:  # noqa: PLR2004 - once more than is needed
            return


def _states(name: str) -> "list[str]":
    found = []
    for path in glob.glob("/proc/self/task/*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                before, _, after = file.read().rpartition(")")
        except OSError:  # it has ended
            continue
        if before.partition("(")[2].startswith(name):
            found.append(after.split()[0])
    return found
