"""Connects to an engine through ssh, as the docker command does, with `docker system dial-stdio`."""

import shlex
import socket
import subprocess
from threading import Thread
from urllib.parse import unquote, urlsplit

from smlocal.errors import EngineUnreachableError

_CONNECT_SECONDS = 30


def ssh_command(address: str) -> tuple[str, ...]:
    """The command that connects to `ssh://[user@]host[:port][/path/of/its/socket]`."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise _no_address(address) from None
    if not parts.hostname or parts.password or parts.query or parts.fragment:
        raise _no_address(address)
    # BatchMode: fail with ssh's own message instead of asking for a password.
    command = ["ssh", "-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_SECONDS}"]
    # End after the other machine has been silent for half a minute.
    command += ["-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"]
    if parts.username:
        command += ["-l", unquote(parts.username)]
    if port:
        command += ["-p", str(port)]
    there = ["docker"]
    if parts.path.strip("/"):
        there += ["--host", f"unix://{unquote(parts.path)}"]
    return (*command, "--", parts.hostname, shlex.join([*there, "system", "dial-stdio"]))


def connect_by_ssh(command: tuple[str, ...]) -> socket.socket:
    """Open a connection through a process, which ends with the connection."""
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C must not end it: it is needed to stop the job
            )
    except BaseException:
        ours.close()
        raise
    Thread(target=process.wait, name="ssh-end", daemon=True).start()
    return ours


def _no_address(address: str) -> EngineUnreachableError:
    return EngineUnreachableError(
        f"{address} is not a valid engine address",
        remedy=("Write it as ssh://user@host, or ssh://user@host:port.",),
    )
