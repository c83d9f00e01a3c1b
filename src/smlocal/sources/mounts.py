"""The mount table of this machine."""

import os
from collections.abc import Iterator

from smlocal.quick_dataclass import dataclass

_ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\"))
_NO_DATA = {
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tracefs",
}
"""File systems of the kernel: their files are not data, and may be endless or change with each read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountPoint:
    """One line of the table."""

    path: str
    device: int
    """As in `st_dev`."""
    kind: str

    @property
    def holds_data(self) -> bool:
        """False for file systems of the kernel."""
        return self.kind not in _NO_DATA


def mount_points() -> list[MountPoint]:
    """Every mount that this process sees; none on a system without the table."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            return list(_parsed(table))
    except OSError:
        return []


def _parsed(lines: Iterator[str]) -> Iterator[MountPoint]:
    for line in lines:
        _, _, device, _, path, rest = line.split(" ", 5)
        if "\\" in path:
            for code, character in _ESCAPES:
                path = path.replace(code, character)
        major, _, minor = device.partition(":")
        kind = rest.partition(" - ")[2].partition(" ")[0]
        yield MountPoint(path=path, device=os.makedev(int(major), int(minor)), kind=kind)
