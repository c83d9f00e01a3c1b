"""Reasons why a folder cannot be mounted as it is (mounts inside it, links out of it), and the mount table."""

import os
from collections.abc import Iterable, Iterator

from smlocal.base.quick_dataclass import dataclass

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


# Why a folder must be copied, not mounted: links out of it, mounts inside it, and files that an upload would skip.

_REASONS = 5
_HOPS = 40
"""The kernel's own limit on links in one path."""


def copy_reasons(root: str, links: Iterable[str], skipped: Iterable[str] = ()) -> tuple[str, ...]:
    """The reasons, one sentence each; the first five, and how many more."""
    real = os.path.realpath(root)
    reasons = [*_encoding(real), *_mounts(real), *_links(real, links), *skipped]
    if len(reasons) <= _REASONS:
        return tuple(reasons)
    return (*reasons[:_REASONS], f"{len(reasons) - _REASONS} more")


def _encoding(real: str) -> Iterator[str]:
    try:
        real.encode()
    except UnicodeEncodeError:
        yield "the folder's path is not UTF-8, which the engine requires"


def _links(real: str, links: Iterable[str]) -> Iterator[str]:
    known = {"": True}  # many links share a folder, and realpath is slow
    for link in links:
        below, _, name = link.rpartition("/")
        parent = os.path.normpath(f"{real}/{below}")
        if below not in known:
            known[below] = os.path.realpath(parent) == parent
        if not known[below]:
            # Reached through another link, which is checked itself.
            continue
        target = os.readlink(f"{parent}/{name}")
        if target.startswith("/"):
            yield f"{link} is a link to the absolute path {target}"
        elif leads_out(real, parent, target):
            yield f"{link} is a link out of the folder, to {target}"


def leads_out(root: str, parent: str, target: str) -> bool:
    """Follow a relative link as the container would; True if a step leaves `root`."""
    current, hops = parent, 0
    pending = target.split("/")[::-1]
    while pending:
        step = pending.pop()
        if step in {"", "."}:
            continue
        if step == "..":
            if current == root:
                return True
            current = os.path.dirname(current)
            continue
        following = f"{current}/{step}"
        try:
            text = os.readlink(following)
        except OSError:
            current = following
            continue
        hops += 1
        if text.startswith("/"):
            return True
        if hops > _HOPS:
            return False
        pending += text.split("/")[::-1]
    return False


def _mounts(real: str) -> Iterator[str]:
    """Mount points below the folder, also bind mounts; an overlay would show the folders under them."""
    inside = real.rstrip("/") + "/"
    for mount in mount_points():
        if mount.path.startswith(inside):
            yield f"{mount.path.removeprefix(inside)} is a mount point"
