"""Takes from each Python that starts with this folder on its PYTHONPATH what only Linux has.

A call that a program tries nevertheless, as far as the interpreter can see it, is written to the file NOT_LINUX_TRIED.
It gets the error that another system would give.
"""

import ctypes
import errno
import fcntl
import os
import resource
import select
import signal
import socket
import sys
import traceback
from types import SimpleNamespace
from typing import Any

_FOLDERS = ("/proc", "/sys", "/dev/shm", "/run/systemd")
_LONGEST_SOCKET = 103
_FUNCTIONS = (
    "inotify",
    "prctl",
    "renameat2",
    "fuse",
    "mount",
    "umount",
    "unshare",
    "setns",
    "splice",
    "statx",
    "syscall",
)
_ABSENT: dict[Any, tuple[str, ...]] = {
    os: (
        *("splice", "sendfile", "copy_file_range", "memfd_create", "posix_fadvise", "posix_fallocate", "eventfd"),
        *("eventfd_read", "eventfd_write", "pidfd_open", "pipe2", "dup3", "setns", "unshare", "getrandom", "waitid"),
        *("getxattr", "setxattr", "listxattr", "removexattr", "timerfd_create", "fdatasync"),
        *("getresuid", "getresgid", "setresuid", "setresgid", "O_TMPFILE", "O_PATH", "O_DIRECT", "O_NOATIME"),
    ),
    signal: ("pidfd_send_signal", "sigtimedwait", "sigwaitinfo", "SIGRTMIN", "SIGRTMAX", "SIGPOLL", "SIGPWR"),
    socket: (
        *("SO_PEERCRED", "SO_PASSCRED", "SCM_CREDENTIALS", "SO_BINDTODEVICE", "SO_MARK", "SO_DOMAIN", "SO_PROTOCOL"),
        *("TCP_KEEPIDLE", "TCP_USER_TIMEOUT", "TCP_QUICKACK", "TCP_CORK", "TCP_DEFER_ACCEPT", "MSG_NOSIGNAL"),
        *("MSG_MORE", "SOCK_CLOEXEC", "SOCK_NONBLOCK", "AF_NETLINK", "AF_PACKET", "AF_ALG", "AF_VSOCK"),
    ),
    select: ("epoll",),
    resource: ("prlimit", "RUSAGE_THREAD", "RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO"),
}
_KINDS = (
    (os, ("sched_", "SCHED_", "EFD_", "TFD_", "SPLICE_", "MFD_", "CLONE_", "RWF_")),
    (fcntl, ("F_OFD_", "F_SEAL", "F_ADD_", "F_SETPIPE", "F_NOTIFY")),
)


def _remove() -> None:
    for module, names in _ABSENT.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for module, beginnings in _KINDS:
        for name in [each for each in dir(module) if each.startswith(beginnings)]:
            delattr(module, name)
    sys.platform = "darwin"
    here = os.uname()
    mac = os.uname_result(("Darwin", here.nodename, "24.1.0", "", here.machine))
    os.uname = lambda: mac
    # The calls of urllib for the settings of proxies there.
    proxies = SimpleNamespace(_get_proxy_settings=dict, _get_proxies=dict)
    sys.modules["_scproxy"] = proxies  # type: ignore[assignment]


def _hook(event: str, given: tuple[Any, ...]) -> None:
    if event in {"open", "os.listdir", "os.scandir", "os.chdir", "os.mkdir"} and isinstance(given[0], str | bytes):
        if os.fsdecode(given[0]).startswith(tuple(f"{each}/" for each in _FOLDERS) + _FOLDERS):
            _tried(f"{event} {os.fsdecode(given[0])}")
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), given[0])
    elif event in {"socket.bind", "socket.connect"} and isinstance(given[1], str | bytes):
        path = os.fsdecode(given[1])
        if path.startswith(("\0", *_FOLDERS)):
            _tried(f"{event} {given[1]!r}")
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if len(os.fsencode(path)) > _LONGEST_SOCKET:
            raise OSError("AF_UNIX path too long")
    elif event == "ctypes.dlsym" and str(given[1]).startswith(_FUNCTIONS):
        _tried(f"{event} {given[1]}")
        raise AttributeError(given[1])


def _tried(what: str) -> None:
    if path := os.environ.get("NOT_LINUX_TRIED"):
        where = "".join(traceback.format_stack(limit=8)[:-2])
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{what}\n{where}\n".encode())
        os.close(descriptor)


if "NOT_LINUX_TRIED" in os.environ:
    ctypes.CDLL(None)  # the interpreter's own
    _remove()
    sys.addaudithook(_hook)
