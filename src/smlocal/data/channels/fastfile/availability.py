"""FUSE on this machine: whether it can be used, and unmounting. Imports nothing large."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from shutil import which

_LIBRARIES = ("libfuse3.so.4", "libfuse3.so.3")
_DEVICE = "/dev/fuse"
_SETTINGS = "/etc/fuse.conf"
_ALLOWED = "user_allow_other"
_INSTALL = "apt-get install fuse3, or your system's package of that name"


def why_no_fuse() -> str | None:
    """Why FUSE cannot be used here and the remedy, in one sentence; None if it can."""
    return next(_problems(), None)


def _problems() -> Iterator[str]:
    if find_spec("mfusepy") is None:
        from smlocal.base.installed import install_command

        yield f"mfusepy is not installed: {install_command('fastfile')}"
    if not os.path.exists(_DEVICE):
        yield f"this machine has no {_DEVICE}: load the kernel's fuse module (modprobe fuse)"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        yield f"this user may not use {_DEVICE}: chmod 666 {_DEVICE}, as root"
    if libfuse() is None:
        yield f"libfuse 3 is not installed: {_INSTALL}"
    if os.geteuid() == 0:
        return

    if which("fusermount3") is None:
        yield f"fusermount3 is not installed: {_INSTALL}"
    if not _may_show_to_others():
        yield f"containers could not read the mount: add a line `{_ALLOWED}` to {_SETTINGS}"


def _may_show_to_others() -> bool:
    try:
        with open(_SETTINGS, encoding="utf-8", errors="replace") as file:
            return any(line.strip() == _ALLOWED for line in file)
    except OSError:
        return False


def libfuse() -> str | None:
    """The name of libfuse 3 on this machine; None if it is not installed."""
    for name in _LIBRARIES:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None


# Unmounts, even if the server is dead or a file is still being read.

_MOUNTS = "/proc/self/mountinfo"
_MOUNT_POINT = 4
"""The index of this field in a line."""
_DETACH, _NOFOLLOW = 2, 8


def unmount_below(directory: str) -> None:
    """Unmount everything below a folder, the innermost first."""
    try:
        with open(_MOUNTS, "rb") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:  # not Linux: nothing was mounted
        return
    below = os.fsencode(os.path.realpath(directory)) + b"/"
    places = (_unescaped(line.split(b" ")[_MOUNT_POINT]) for line in reversed(lines))
    for place in places:
        if place.startswith(below):
            unmount(os.fsdecode(place))


def unmount(mount_point: str) -> None:
    """Unmount at once, even if it is in use; nothing needs to be mounted."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).umount2(os.fsencode(mount_point), _DETACH | _NOFOLLOW)
        return

    try:
        subprocess.run(["fusermount3", "-u", "-z", "-q", "--", mount_point], check=False, capture_output=True)
    except FileNotFoundError:
        return


def _unescaped(place: bytes) -> bytes:
    r"""The kernel writes spaces and some other characters as `\040`."""
    first, *others = place.split(b"\\")
    return first + b"".join(bytes([int(other[:3], 8)]) + other[3:] for other in others)
