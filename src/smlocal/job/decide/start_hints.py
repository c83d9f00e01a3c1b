"""Why PID 1 of a container could not be started: a hint for a message of the runtime. Pure."""

import re
from collections.abc import Callable, Iterable

# runc names the program in quotes, crun does not.
_NOT_FOUND = re.compile(r"executable file `\S+` not found in \$PATH|exec: \"[^\"]*\": executable file not found")
_DENIED = re.compile(r"exec: \"[^\"]*\": permission denied|open executable: permission denied", re.IGNORECASE)
_MISSING = re.compile(r"exec: \"[^\"]*\": (?:stat \S+: )?no such file or directory")
_NO_INTERPRETER = re.compile(r"exec \S+: no such file or directory|exec user process caused: no such file")
_FORMAT = re.compile(r"exec format error", re.IGNORECASE)
_ON_A_FILE = re.compile(r"mounting \S+ to rootfs at \"(?P<target>[^\"]+)\".*not a directory", re.DOTALL)
_SYSTEM = {"bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"}

NO_INTERPRETER = (
    "The interpreter in the first line (#!) of the program, or the loader of a binary, is missing in the container. "
    "A Windows line ending (CRLF) in that line has the same effect."
)
WRONG_FORMAT = "The program has no #! line, or is built for another CPU."
_NOT_ON_PATH = (
    "Nothing of that name on the PATH of the image may be executed: either it is not there (COPY it to "
    "/usr/local/bin), or it is not executable (chmod +x)."
)
_PROGRAM = (
    (_NOT_FOUND, _NOT_ON_PATH),
    (_DENIED, "The program is not executable: chmod +x it before it is copied into the image."),
    (_MISSING, "The image has no such program."),
    (_NO_INTERPRETER, NO_INTERPRETER),
    (_FORMAT, WRONG_FORMAT),
)


def start_hint(
    message: str, mounted: Iterable[str] = (), of_platform: Callable[[], str | None] = lambda: None
) -> str | None:
    """The hint for a message; `mounted` are the folders of the container that smlocal mounts.

    `of_platform` is asked about a program that was not started: it can look into the container.
    """
    hidden = hidden_by(mounted)
    if hidden:
        return hidden[0]
    on_a_file = _ON_A_FILE.search(message)
    if on_a_file:
        return f"{on_a_file['target']} is a file in the image, so no folder can be mounted there."
    known = next((hint for words, hint in _PROGRAM if words.search(message)), None)
    return known and (of_platform() or known)


def hidden_by(mounted: Iterable[str]) -> list[str]:
    """Mounts that hide folders which every image needs."""
    return [
        f"A folder of the job is mounted at {target} and hides the files of the image there: choose another path."
        for target in mounted
        if target.split("/")[1] in _SYSTEM
    ]
