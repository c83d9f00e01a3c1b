"""What the log of a job says of a hook of smdebug that has disabled itself: the rules of the job then read no more."""

import mmap
import os
import re
from collections.abc import Iterable

from smlocal.base.quick_dataclass import dataclass

_SAYS = b"SMDebug error has occurred, disabling SMDebug"
"""smdebug.core.error_handling_agent, in a hook whose configuration is the default one."""
_TRACEBACK = re.compile(
    rb"^Traceback \(most recent call last\):\r?$.*?^(?P<error>[^\s:][^\r\n]*)", re.MULTILINE | re.DOTALL
)
_LONGEST_TRACEBACK = 1 << 16
_LONGEST_ERROR = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class DisabledHook:
    """The first such line of a log."""

    host: str
    line: int
    error: str
    """The last line of its traceback; empty if there is none."""

    @property
    def sentence(self) -> str:
        """For a rule that has found nothing, and for the job."""
        why = f": {self.error}" if self.error else ""
        return (
            f"The hook of smdebug disabled itself (line {self.line} of the log of {self.host}{why}), "
            "so no tensors were saved after that."
        )


def disabled_hook(job_directory: str, hosts: Iterable[str]) -> DisabledHook | None:
    """Look into the logs of the hosts, in this order."""
    for host in hosts:
        try:
            descriptor = os.open(f"{job_directory}/logs/{host}.log", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as log:
                found = log.find(_SAYS)
                if found >= 0:
                    traceback = _TRACEBACK.search(log[found : found + _LONGEST_TRACEBACK])
                    error = traceback["error"].decode("utf-8", "replace")[:_LONGEST_ERROR] if traceback else ""
                    return DisabledHook(host=host, line=log[:found].count(b"\n") + 1, error=error)
        except (OSError, ValueError):  # an empty file cannot be mapped
            continue
        finally:
            os.close(descriptor)
    return None
