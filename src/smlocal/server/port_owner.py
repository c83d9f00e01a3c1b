"""Which program has a port, as far as this machine tells."""

import os
from contextlib import suppress

_LISTENING = "0A"


def port_owner(port: int) -> str | None:
    """`python (process 4242)`; None if it cannot be told, as for programs of other users."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    if not sockets:
        return None
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            for descriptor in os.listdir(f"/proc/{process}/fd"):
                with suppress(OSError):
                    if os.readlink(f"/proc/{process}/fd/{descriptor}") in sockets:
                        return f"{_name(process)} (process {process})"
    return None


def _listening(port: int) -> list[str]:
    """The inodes of sockets that listen on the port."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError), open(table, encoding="ascii") as lines:
            for line in lines:
                fields = line.split()
                if fields[3] == _LISTENING and fields[1].endswith(f":{port:04X}"):
                    found.append(fields[9])
    return found


def _name(process: str) -> str:
    with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().strip()
