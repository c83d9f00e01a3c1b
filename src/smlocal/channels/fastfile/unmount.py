"""Whatever is mounted, unmounted: also where its server is dead, or somebody still reads from it."""

import os
import subprocess

_MOUNTS = "/proc/self/mountinfo"
_PLACE = 4
"""Which field of a line there is the mount point."""
_DETACH, _NOFOLLOW = 2, 8


def unmount_below(directory: str) -> None:
    """Unmount everything below a folder, the innermost first; reads one small file where there is nothing."""
    try:
        with open(_MOUNTS, "rb") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:  # no Linux, so no mount of ours
        return
    below = os.fsencode(os.path.realpath(directory)) + b"/"
    places = (_unescaped(line.split(b" ")[_PLACE]) for line in reversed(lines))
    for place in places:
        if place.startswith(below):
            unmount(os.fsdecode(place))


def unmount(mount_point: str) -> None:
    """Take a mount away from sight at once, used or not; none there is fine."""
    if os.geteuid() == 0:
        import ctypes

        ctypes.CDLL(None).umount2(os.fsencode(mount_point), _DETACH | _NOFOLLOW)
        return
    try:
        subprocess.run(["fusermount3", "-u", "-z", "-q", "--", mount_point], check=False, capture_output=True)
    except FileNotFoundError:
        return


def _unescaped(place: bytes) -> bytes:
    r"""The kernel writes blanks and their like as `\040`."""
    first, *others = place.split(b"\\")
    return first + b"".join(bytes([int(other[:3], 8)]) + other[3:] for other in others)
