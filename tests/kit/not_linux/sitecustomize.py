"""Takes from each Python that starts with this folder on its PYTHONPATH what macOS does not have.

It needs NOT_LINUX in the environment. A call that a program tries nevertheless, as far as the interpreter can see it,
gets the error that macOS would give, and is written to the file that NOT_LINUX names, if it is a path.
`tests/repo/test_not_linux.py` compares the names with those that type checkers know for macOS.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import select
import selectors
import signal
import socket
import stat
import sys
import termios
import time
import traceback
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

_FOLDERS = ("/proc", "/sys", "/dev/shm", "/run/systemd", "/etc/os-release", "/usr/lib/os-release", "/etc/machine-id")
_FUNCTIONS = (
    *("inotify", "fanotify", "prctl", "renameat2", "fuse", "mount", "umount", "unshare", "setns", "splice", "statx"),
    *("syscall", "eventfd", "epoll", "memfd", "gnu_get_libc_version"),
)
ABSENT: dict[ModuleType, tuple[str, ...]] = {
    os: (
        *("splice", "copy_file_range", "memfd_create", "posix_fadvise", "posix_fallocate", "eventfd", "eventfd_read"),
        *("eventfd_write", "pidfd_open", "pipe2", "getrandom", "waitid", "waitid_result", "getxattr", "setxattr"),
        *("listxattr", "removexattr", "fdatasync", "getresuid", "getresgid", "setresuid", "setresgid", "setns"),
        *("unshare", "O_TMPFILE", "O_PATH", "O_DIRECT", "O_NOATIME", "O_LARGEFILE", "O_RSYNC", "P_PIDFD"),
        *("RTLD_DEEPBIND", "sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_setparam"),
        *("sched_getscheduler", "sched_setscheduler", "sched_rr_get_interval", "SCHED_BATCH", "SCHED_IDLE"),
        *("SCHED_RESET_ON_FORK", "ST_APPEND", "ST_MANDLOCK", "ST_NOATIME", "ST_NODEV", "ST_NODIRATIME", "ST_NOEXEC"),
        *("ST_RELATIME", "ST_SYNCHRONOUS", "ST_WRITE"),
    ),
    signal: (
        *("pidfd_send_signal", "sigtimedwait", "sigwaitinfo", "struct_siginfo", "SIGRTMIN", "SIGRTMAX", "SIGPOLL"),
        *("SIGPWR", "SIGCLD", "SIGSTKFLT"),
    ),
    socket: (
        *("SO_PEERCRED", "SO_PASSCRED", "SO_PEERSEC", "SO_PASSSEC", "SCM_CREDENTIALS", "SO_BINDTODEVICE", "SO_MARK"),
        *("SO_DOMAIN", "SO_PROTOCOL", "SO_PRIORITY", "SO_INCOMING_CPU", "TCP_KEEPIDLE", "TCP_USER_TIMEOUT"),
        *("TCP_QUICKACK", "TCP_CORK", "TCP_DEFER_ACCEPT", "TCP_INFO", "TCP_CONGESTION", "TCP_LINGER2", "TCP_SYNCNT"),
        *("TCP_WINDOW_CLAMP", "MSG_MORE", "MSG_CMSG_CLOEXEC", "MSG_CONFIRM", "MSG_ERRQUEUE", "MSG_FASTOPEN"),
        *("SOCK_CLOEXEC", "SOCK_NONBLOCK", "AF_NETLINK", "AF_PACKET", "AF_ALG", "AF_VSOCK"),
    ),
    select: ("epoll", "POLLRDHUP", "POLLMSG"),
    resource: (
        *("prlimit", "RUSAGE_THREAD", "RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO"),
        *("RLIMIT_RTTIME", "RLIMIT_OFILE"),
    ),
    fcntl: (
        *("F_GETPIPE_SZ", "F_SETPIPE_SZ", "F_GETSIG", "F_SETSIG", "F_GETLEASE", "F_SETLEASE", "F_NOTIFY", "F_EXLCK"),
        *("F_SHLCK", "F_ADD_SEALS", "F_GET_SEALS", "LOCK_MAND", "LOCK_READ", "LOCK_WRITE", "LOCK_RW"),
        *("F_GETLK64", "F_SETLK64", "F_SETLKW64"),
    ),
    time: ("CLOCK_BOOTTIME", "CLOCK_TAI", "pthread_getcpuclockid"),
    mmap: (
        *("MADV_HUGEPAGE", "MADV_NOHUGEPAGE", "MADV_DODUMP", "MADV_DONTDUMP", "MADV_DOFORK", "MADV_DONTFORK"),
        *("MADV_MERGEABLE", "MADV_UNMERGEABLE", "MADV_REMOVE", "MADV_HWPOISON", "MAP_POPULATE", "MAP_STACK"),
        *("MAP_DENYWRITE", "MAP_EXECUTABLE"),
    ),
    errno: (
        *(
            "EADV",
            "EBADE",
            "EBADFD",
            "EBADR",
            "EBADRQC",
            "EBADSLT",
            "EBFONT",
            "ECHRNG",
            "ECOMM",
            "EDEADLOCK",
            "EDOTDOT",
        ),
        *("EISNAM", "EKEYEXPIRED", "EKEYREJECTED", "EKEYREVOKED", "EL2HLT", "EL2NSYNC", "EL3HLT", "EL3RST", "ELIBACC"),
        *(
            "ELIBBAD",
            "ELIBEXEC",
            "ELIBMAX",
            "ELIBSCN",
            "ELNRNG",
            "EMEDIUMTYPE",
            "ENAVAIL",
            "ENOANO",
            "ENOCSI",
            "ENOKEY",
        ),
        *("ENOMEDIUM", "ENONET", "ENOPKG", "ENOTNAM", "ENOTUNIQ", "EREMCHG", "EREMOTEIO", "ERESTART", "ERFKILL"),
        *("ESRMNT", "ESTRPIPE", "EUCLEAN", "EUNATCH", "EXFULL"),
    ),
    termios: ("TCGETS", "TCSETS", "TCSETSF", "TCSETSW", "TIOCINQ", "XTABS"),
}
KINDS: dict[ModuleType, tuple[str, ...]] = {
    os: ("EFD_", "TFD_", "SPLICE_", "MFD_", "CLONE_", "RWF_", "GRND_", "POSIX_FADV_", "XATTR_"),
    fcntl: ("F_OFD_", "F_SEAL_", "DN_"),
    select: ("EPOLL",),
}
_CLONES = {0x40049409, 0x4020940D}
"""The numbers by which Linux copies files without their content (FICLONE, FICLONERANGE)."""
_SHORT_PATH = 103
"""Bytes of the path of a Unix socket."""
_MAC_RELEASE = "24.1.0"


def _remove() -> None:
    for module, names in ABSENT.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for module, beginnings in KINDS.items():
        for name in [each for each in dir(module) if each.startswith(beginnings)]:
            delattr(module, name)


def _differ() -> None:
    """What macOS has, and does in another way."""
    # Where this interpreter finds how it was built, which it looks for by the name of the platform.
    built = f"_sysconfigdata_{sys.abiflags}_linux_{getattr(sys.implementation, '_multiarch', '')}"
    os.environ.setdefault("_PYTHON_SYSCONFIGDATA_NAME", built)
    sys.platform = "darwin"
    here = os.uname()
    mac = os.uname_result(("Darwin", here.nodename, _MAC_RELEASE, "", here.machine))
    os.uname = lambda: mac
    # The calls of urllib for the settings of proxies there.
    proxies = SimpleNamespace(_get_proxy_settings=lambda: {"exclude_simple": False}, _get_proxies=dict)
    sys.modules["_scproxy"] = proxies  # type: ignore[assignment]
    setattr(socket, "TCP_KEEPALIVE", 4)  # noqa: B010 - a name that types do not know on Linux; the number of TCP_KEEPIDLE
    # Two errors, of which files get ENOTSUP; here they are one.
    errno.EOPNOTSUPP = 102  # type: ignore[misc]
    if hasattr(selectors, "EpollSelector"):  # `socket` imports it
        del selectors.EpollSelector
        selectors.DefaultSelector = selectors.PollSelector  # type: ignore[assignment,misc]
    if hasattr(os, "process_cpu_count"):
        os.process_cpu_count = os.cpu_count
    for name in ("SC_AVPHYS_PAGES", "SC_NPROCESSORS"):
        os.sysconf_names.pop(name, None)
    _replace(os, "sysconf", _sysconf)
    _replace(os, "sendfile", _sendfile)
    for name in ("stat", "lstat", "access", "readlink", "statvfs"):
        _replace(os, name, _of_a_path)
    for name in ("unlink", "remove"):
        _replace(os, name, _unlink)
    _replace(resource, "getrusage", _getrusage)
    _replace(fcntl, "flock", _flock)
    _replace(fcntl, "ioctl", _ioctl)


def _replace(module: ModuleType, name: str, made: Callable[[Any], Any]) -> None:
    original = getattr(module, name)
    changed = made(original)
    setattr(module, name, changed)
    for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        if original in supported:
            supported.add(changed)


def _sysconf(original: Any) -> Any:
    def sysconf(name: str | int, /) -> int:
        if isinstance(name, str) and name not in os.sysconf_names:
            raise ValueError("unrecognized configuration name")
        found: int = original(name)
        return found

    return sysconf


def _sendfile(original: Any) -> Any:
    def sendfile(out_fd: int, *given: Any, **named: Any) -> int:
        """Only to sockets."""
        if not stat.S_ISSOCK(os.fstat(out_fd).st_mode):
            raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK))
        sent: int = original(out_fd, *given, **named)
        return sent

    return sendfile


def _of_a_path(original: Any) -> Any:
    def call(path: Any, *given: Any, **named: Any) -> Any:
        if not isinstance(path, int) and _is_hidden(os.fspath(path)):
            _tried(f"{original.__name__} {os.fsdecode(path)}")
            if original.__name__ == "access":
                return False
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return original(path, *given, **named)

    call.__name__ = original.__name__
    return call


def _unlink(original: Any) -> Any:
    def unlink(*given: Any, **named: Any) -> None:
        try:
            original(*given, **named)
        except IsADirectoryError as error:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), error.filename) from None

    return unlink


def _getrusage(original: Any) -> Any:
    def getrusage(who: int, /) -> Any:
        """The largest size in bytes instead of KiB."""
        found = original(who)
        return resource.struct_rusage((*found[:2], found[2] * 1024, *found[3:]))

    return getrusage


def _flock(original: Any) -> Any:
    def flock(descriptor: Any, operation: int, /) -> None:
        """Of files and folders only."""
        kind = os.fstat(descriptor if isinstance(descriptor, int) else descriptor.fileno()).st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        original(descriptor, operation)

    return flock


def _ioctl(original: Any) -> Any:
    def ioctl(descriptor: Any, request: int, *given: Any) -> Any:
        if request & 0xFFFFFFFF in _CLONES:
            raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
        return original(descriptor, request, *given)

    return ioctl


def _is_hidden(path: str | bytes) -> bool:
    text = os.fsdecode(path)
    return text.startswith(_FOLDERS) and (
        text.startswith(tuple(f"{each}/" for each in _FOLDERS)) or text.rstrip("/") in _FOLDERS
    )


def _hook(event: str, given: tuple[Any, ...]) -> None:
    if event in {"open", "os.listdir", "os.scandir", "os.chdir", "os.mkdir"} and isinstance(given[0], str | bytes):
        if _is_hidden(given[0]):
            _tried(f"{event} {os.fsdecode(given[0])}")
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), given[0])
    elif event in {"socket.bind", "socket.connect"} and isinstance(given[1], str | bytes):
        path = os.fsencode(given[1])
        if path.startswith(b"\0") or _is_hidden(path):
            _tried(f"{event} {given[1]!r}")
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if len(path) > _SHORT_PATH:
            raise OSError("AF_UNIX path too long")
    elif event == "ctypes.dlsym" and str(given[1]).startswith(_FUNCTIONS):
        _tried(f"{event} {given[1]}")
        raise AttributeError(given[1])


def _tried(what: str) -> None:
    if "/" in (path := os.environ.get("NOT_LINUX", "")):
        where = "".join(traceback.format_stack(limit=8)[:-2])
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{what}\n{where}\n".encode())
        os.close(descriptor)


if "NOT_LINUX" in os.environ:
    ctypes.CDLL(None)  # the interpreter's own
    _remove()
    _differ()
    sys.addaudithook(_hook)
