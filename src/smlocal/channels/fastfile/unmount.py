"""Unmounts, also if the server is dead or somebody still reads."""

import os
import subprocess

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
        import ctypes

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
