"""An engine behind ssh, reached as the docker command does it: `docker system dial-stdio` there is a socket here."""

import shlex
import socket
import subprocess
from threading import Thread
from urllib.parse import unquote, urlsplit

from smlocal.errors import EngineUnreachableError

_CONNECT_SECONDS = 30


def ssh_command(address: str) -> tuple[str, ...]:
    """What is run to reach the engine at `ssh://[user@]host[:port][/path/of/its/socket]`."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise _no_address(address) from None
    if not parts.hostname or parts.password or parts.query or parts.fragment:
        raise _no_address(address)
    # Nobody is there to type a password: it fails with ssh's own reason instead.
    command = ["ssh", "-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_SECONDS}"]
    # It ends by itself once the other machine has been silent for half a minute.
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
    """Open a connection through a process of its own, which ends with it."""
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us: the job is stopped through this connection
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
