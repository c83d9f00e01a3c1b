"""The kernel's own word that it ended something in a container for want of memory, where this user may read its log.

It stands there before the container has ended, but for more than ten of them in five seconds. Engines hear of it apart
from the end, and now and then do not.
"""

import os

_LOG = "/dev/kmsg"
_LONGEST = 1 << 14
"""Bytes of a record; a read that has no room for it fails."""
_MOST = 1 << 20
"""Records that are looked at; kernels keep some thousands."""
_GROUPS = (b"oom_memcg=", b"task_memcg=")
"""Whose memory ran out, and whose process was ended. The record has more in it that may be another container's."""


def killed_for_memory(container: str) -> bool:
    """True when the log says so of the container with this id."""
    try:
        log = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # root's alone on most machines, and Linux's
        return False
    try:
        for _ in range(_MOST):
            try:
                record = os.read(log, _LONGEST)
            except BrokenPipeError:  # overwritten meanwhile: the next read begins with what is there
                continue
            if tells_of(record, container):
                return True
    except OSError:  # that was the last one
        pass
    finally:
        os.close(log)
    return False


def tells_of(record: bytes, container: str) -> bool:
    """True for the record of a kill in this container."""
    _, _, kill = record.partition(b";oom-kill:")
    return any(field.startswith(_GROUPS) and container.encode() in field for field in kill.split(b","))
