"""Finds out from the kernel's log, if the user may read it, whether a process was killed because memory ran out.

The kernel logs it before the container ends, but not more than ten such kills in five seconds. Engines learn of it
separately from the end, and sometimes not at all.
"""

import os

_LOG = "/dev/kmsg"
_LONGEST = 1 << 14
"""The maximum size of a record; a read with a smaller buffer fails."""
_MOST = 1 << 20
"""The maximum number of records that are read; kernels keep some thousands."""
_GROUPS = (b"oom_memcg=", b"task_memcg=")
"""The container whose memory ran out, and that of the killed process. Other fields may name other containers."""


def killed_for_memory(container: str) -> bool:
    """True if the log has a kill in this container."""
    try:
        log = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # on most machines only root may read it
        return False
    try:
        for _ in range(_MOST):
            try:
                record = os.read(log, _LONGEST)
            except BrokenPipeError:  # overwritten in the meantime: the next read continues with what is there
                continue
            if is_kill_in(record, container):
                return True
    except OSError:  # no more records
        pass
    finally:
        os.close(log)
    return False


def is_kill_in(record: bytes, container: str) -> bool:
    """True if the record is about a kill in this container."""
    _, _, kill = record.partition(b";oom-kill:")
    return any(field.startswith(_GROUPS) and container.encode() in field for field in kill.split(b","))
