"""Hints on why a host failed, shown beside the service's reason. Pure.

They come from the message of a runtime that could not start PID 1, or from how the program ended and its output.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import readable_bytes
from smlocal.jobs.decide.attempt_outcome import KILLED

if TYPE_CHECKING:
    from smlocal.data.channels.fastfile.tree import Unread


# runc names the program in quotes, crun does not.
_NOT_FOUND = re.compile(
    r"executable file `(?P<crun>\S+)` not found in \$PATH|exec: \"(?P<runc>[^\"]*)\": executable file not found"
)
_START_DENIED = re.compile(r"exec: \"[^\"]*\": permission denied|open executable: permission denied", re.IGNORECASE)
_MISSING = re.compile(r"exec: \"([^\"]*)\": (?:stat \S+: )?no such file or directory")
_NO_INTERPRETER = re.compile(r"exec \S+: no such file or directory|exec user process caused: no such file")
_START_FORMAT = re.compile(r"exec format error", re.IGNORECASE)
_ON_A_FILE = re.compile(r"mounting \S+ to rootfs at \"(?P<target>[^\"]+)\".*not a directory", re.DOTALL)
_SYSTEM = {"bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"}

NO_INTERPRETER = (
    "The interpreter in the first line (#!) of the program, or the loader of a binary, is missing in the container. "
    "A Windows line ending (CRLF) in that line has the same effect."
)
WRONG_FORMAT = "The program has no #! line, or is built for another CPU."
_NOT_ON_PATH = (
    "No program {name} on the PATH of the image can be executed: either it is missing (COPY it to "
    "/usr/local/bin) or it is not executable (chmod +x)."
)
_PROGRAM = (
    (_NOT_FOUND, _NOT_ON_PATH),
    (_START_DENIED, "The program is not executable: chmod +x it before it is copied into the image."),
    (_MISSING, "The image has no program {name}."),
    (_NO_INTERPRETER, NO_INTERPRETER),
    (_START_FORMAT, WRONG_FORMAT),
)


def start_hint(
    message: str, mounted: Iterable[str] = (), of_platform: Callable[[], str | None] = lambda: None
) -> str | None:
    """The hint for a message; `mounted` are the folders of the container that smlocal mounts.

    `of_platform` is asked about a program that was not started: it can look into the container.
    """
    hidden = _hidden_by(mounted)
    if hidden:
        return hidden[0]
    on_a_file = _ON_A_FILE.search(message)
    if on_a_file:
        return f"{on_a_file['target']} is a file in the image, so no folder can be mounted there."
    for words, hint in _PROGRAM:
        if found := words.search(message):
            return of_platform() or hint.format(name=next(filter(None, found.groups()), ""))
    return None


def _hidden_by(mounted: Iterable[str]) -> list[str]:
    """Mounts that hide folders which every image needs."""
    return [
        f"A folder of the job is mounted at {target} and hides the files of the image there: choose another path."
        for target in mounted
        if target.split("/")[1] in _SYSTEM
    ]


_BUS_ERROR = 135
_MAY_NOT_EXECUTE = 126

_EXEC_FAILED = re.compile(r"^exec \S+: no such file or directory|exec user process caused: no such file", re.MULTILINE)
_EXEC_FORMAT = re.compile(r"[Ee]xec format error")
_CRLF = re.compile(
    r"(?:\r|\\r|\^M)'?: (?:No such file or directory|bad interpreter|command not found|not found)"
    r"|cannot execute: required file not found"
)
_DENIED = re.compile(r"ermission denied")
_BELOW = r"\b[^\s'\":]*"
"""The rest of a path after a folder, in a message."""
# PyTorch, its data loader twice, and NCCL.
_NO_SHARED_MEMORY = re.compile(
    r"unable to allocate shared memory|insufficient shared memory|raise your shared memory limit"
    r"|[Ee]rror while creating shared memory segment|/dev/shm.*No space left|No space left.*/dev/shm"
)
_NO_BUS = re.compile(r"\bBus error\b")
_NO_SPACE = re.compile(r"No space left on device|\bENOSPC\b|Disk quota exceeded")
_NO_CREDENTIALS = re.compile(r"Unable to locate credentials|NoCredentialsError|NoCredentialProviders")
_ROOT = {"", "0", "root"}


@dataclass(frozen=True, kw_only=True, slots=True)
class HostExit:
    """The known facts about a host that did not exit with 0."""

    exit_code: int
    log_tail: str = ""
    first_process: str = "train"
    oom_killed: bool = False
    signalled: bool = False
    killed: bool = False
    """By smlocal, after SIGTERM."""
    grace: float = 0.0
    killed_early: bool = False
    """True if it was killed before the grace period ended."""
    credentials: bool = False
    """True if the containers get some."""
    user: str = ""
    """The image's USER."""
    root: str = ""
    """The platform's folder in the container, if it has one."""
    data: str = ""
    """The folder of the channels in it."""
    mounted: tuple[str, ...] = ()
    """The folders of the container that smlocal mounts."""
    shared_memory: int | None = None
    """Bytes of /dev/shm, if the job sets them."""
    memory: int = 0
    """Bytes of Local.Memory if it limits the host, else 0."""
    volume: int | None = None
    """Size of the volume for results in bytes, if it is limited."""
    free: int | None = None
    """Bytes that were free for results at the end, if known."""

    @property
    def shm(self) -> str:
        """A sentence on the size of /dev/shm."""
        given = None if self.shared_memory is None else readable_bytes(self.shared_memory)
        return f"Shared memory (/dev/shm) has {given or 'the default of the engine, usually 64 MiB'}"


_NO_HANDLER = "Does it handle SIGTERM? PID 1 does not get signals without a handler."


def exit_hint(end: HostExit, of_platform: Callable[[], str | None] = lambda: None) -> str | None:
    """Why a host failed: the one reason that explains most. `of_platform` is asked where its end does not say it."""
    if end.killed:
        why = "" if end.killed_early else f" {of_platform() or _NO_HANDLER}"
        return f"{_ignored_sigterm(end)}{why}"
    for rule in _BY_HOW_IT_ENDED:
        found = rule(end)
        if found is not None:
            return found
    if _EXEC_FAILED.search(end.log_tail):
        hidden = _hidden_by(end.mounted)
        if hidden:
            return hidden[0]
    found = of_platform()
    return found if found is not None else next(filter(None, (rule(end) for rule in _BY_WHAT_IT_WROTE)), None)


def is_full(log_tail: str) -> bool:
    """True if the log mentions a full disk."""
    return _NO_SPACE.search(log_tail) is not None


def is_without_shared_memory(log_tail: str) -> bool:
    """True if the log says that shared memory ran out."""
    return _NO_SHARED_MEMORY.search(log_tail) is not None


def is_without_credentials(log_tail: str) -> bool:
    """True if the log says that AWS was called without credentials."""
    return _NO_CREDENTIALS.search(log_tail) is not None


def program_hint(exit_code: int, log_tail: str) -> str | None:
    """Why a program could not be started, on any machine."""
    return _program(HostExit(exit_code=exit_code, log_tail=log_tail))


def _ignored_sigterm(end: HostExit) -> str:
    if end.killed_early:
        return (
            f"PID 1 ({end.first_process}) was still running after SIGTERM and was killed before the grace period ended."
        )
    return f"PID 1 ({end.first_process}) did not end within {end.grace:g} s of SIGTERM and was killed."


def _killed_from_outside(end: HostExit) -> str | None:
    if end.exit_code != KILLED or end.oom_killed or end.signalled:
        return None
    return (
        "Exit code 137 means SIGKILL. smlocal did not send it, and the engine does not report that memory ran "
        "out. It may have come from docker kill, docker stop, an engine that ended, or a program in the container."
    )


def _out_of_memory(end: HostExit) -> str | None:
    if not end.oom_killed:
        return None
    limited = f"Memory was limited to {readable_bytes(end.memory)} by Local.Memory (--memory): raise it."
    advice = [limited] if end.memory else []
    if end.exit_code == KILLED:  # for PID 1 itself the reason says it, but not which limit it was
        return next(iter(advice), None)
    killed = f"Memory ran out: the kernel killed a process of the container, and PID 1 then exited {end.exit_code}."
    return " ".join((killed, *advice))


def _program(end: HostExit) -> str | None:
    if _EXEC_FAILED.search(end.log_tail):
        return NO_INTERPRETER
    if _CRLF.search(end.log_tail):
        return "A script has Windows line endings (CRLF), or the program in its #! line is missing in the image."
    if _EXEC_FORMAT.search(end.log_tail):
        return WRONG_FORMAT
    if end.exit_code == _MAY_NOT_EXECUTE and _DENIED.search(end.log_tail):
        return "Exit code 126: a program is not executable. Run chmod +x on it in the image."
    return None


def _denied(end: HostExit) -> str | None:
    user = end.user.partition(":")[0]
    if user in _ROOT or not end.root:
        return None
    below, denied = re.escape(end.root) + _BELOW, _DENIED.pattern
    found = re.search(f"(?P<first>{below}).*{denied}|{denied}.*?(?P<last>{below})", end.log_tail)
    if found is None:
        return None
    path = found["first"] or found["last"]
    who = f"The image runs as USER {user}, who has no access to {path}"
    if path.startswith(f"{end.data}/"):
        return (
            f"{who}. The top folder of a channel belongs to root. Files in it keep their local owner and mode, "
            "unless they are copied (--staging copy)."
        )
    return f"{who}: {end.root} belongs to root, as on the service. Run the image as root."


def _shared_memory(end: HostExit) -> str | None:
    room = f"{end.shm}. Increase Local.ShmSize, for example to 2g, or use fewer workers."
    if is_without_shared_memory(end.log_tail):
        return f"Shared memory ran out: {room}"
    if end.exit_code == _BUS_ERROR or _NO_BUS.search(end.log_tail):
        return f"A bus error (SIGBUS) usually means that shared memory ran out: {room}"
    return None


def _space(end: HostExit) -> str | None:
    if not is_full(end.log_tail) or is_without_shared_memory(end.log_tail):
        return None
    limited = "" if end.volume is None else f" of {readable_bytes(end.volume)} (the volume, less the channels)"
    where = f" in {end.root}" if end.root else ""
    free = "" if end.free is None else f"For results{where} {readable_bytes(end.free)}{limited} were free at the end. "
    return f"A disk was full. {free}{end.shm} (Local.ShmSize). All other paths are on the engine's disk."


def _credentials(end: HostExit) -> str | None:
    if end.credentials or not is_without_credentials(end.log_tail):
        return None
    return "It called AWS without credentials. To give it some: --credentials inherit or --credentials role."


_BY_HOW_IT_ENDED: tuple[Callable[[HostExit], str | None], ...] = (_killed_from_outside, _out_of_memory)
_BY_WHAT_IT_WROTE: tuple[Callable[[HostExit], str | None], ...] = (
    _program,
    _denied,
    _shared_memory,
    _space,
    _credentials,
)


_SHOWN = 3
_ADVICE = {
    "NoSuchKey": "The object was deleted after the job listed it.",
    "PreconditionFailed": "The object was replaced after the job listed it. FastFile never mixes two versions.",
    "AccessDenied": "The credentials of this machine may list the object but not read it: they need s3:GetObject, and "
    "kms:Decrypt if it is encrypted with a key of KMS.",
    "ExpiredToken": "Your credentials expired during the job and could not be renewed.",
    "RequestTimeout": "S3 was unreachable until the read timed out.",
}
_SAME = {"Forbidden": "AccessDenied", "RequestError": "RequestTimeout", "ExpiredTokenException": "ExpiredToken"}


def unread_facts(unread: Sequence[tuple[str, "Unread"]]) -> list[str]:
    """The objects, their channels and S3's errors."""
    facts = [
        f'reading {each.uri} of FastFile channel "{channel}" failed, the container got an I/O error (EIO): {each.why}'
        for channel, each in unread[:_SHOWN]
    ]
    more = len(unread) - _SHOWN
    return [*facts, f"reading {more} more objects also failed"] if more > 0 else facts


def unread_advice(unread: Sequence[tuple[str, "Unread"]]) -> list[str]:
    """Possible causes of these errors."""
    codes = dict.fromkeys(_SAME.get(each.code, each.code) for _, each in unread)
    return [_ADVICE[code] for code in codes if code in _ADVICE]
