"""What the service's reason does not tell but this machine knows: one sentence each, beside the reason."""

import re

_EXEC_FAILED = re.compile(r"exec (?P<file>\S+?):? no such file or directory|exec user process caused: no such file")
_NOT_FOUND = re.compile(r"executable file .*not found")
_EXEC_FORMAT = re.compile(r"exec format error", re.IGNORECASE)

_NO_CREDENTIALS = re.compile(r"Unable to locate credentials|NoCredentialsError|NoCredentialProviders")


def start_hints(message: str) -> list[str]:
    """Why a first process could not be started."""
    if _NOT_FOUND.search(message):
        return [
            "The image has no such program on its PATH: COPY one to /usr/local/bin/train, or set ContainerEntrypoint."
        ]
    if "permission denied" in message.lower():
        return ["The program is not executable: chmod +x it before it is copied into the image."]
    if "no such file or directory" in message:
        return ["The program or its interpreter is missing: look at its first line (#!), also for a Windows line end."]
    if _EXEC_FORMAT.search(message):
        return ["The program has no #! line, or is built for another CPU."]
    return []


def exit_hints(
    log_tail: str,
    *,
    killed: bool,
    first_process: str,
    grace: float,
    impatient: bool = False,
    credentials: bool = False,
) -> list[str]:
    """Why a host ended as it did."""
    hints = []
    if killed and impatient:
        hints.append(f"PID 1 ({first_process}) still ran after SIGTERM and was killed before its time was over.")
    elif killed:
        hints.append(
            f"PID 1 ({first_process}) did not end within {grace:g} s of SIGTERM and was killed: does it handle it?"
        )
    if _EXEC_FAILED.search(log_tail):
        hints.append("The interpreter of the #! line was not found: a Windows line end (CRLF) in that line does this.")
    elif _EXEC_FORMAT.search(log_tail):
        hints.append("The program has no #! line, or is built for another CPU.")
    if not credentials and _NO_CREDENTIALS.search(log_tail):
        hints.append(
            "It asked AWS for something, and containers get no credentials here: --credentials inherit or role."
        )
    return hints
