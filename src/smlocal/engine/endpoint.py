"""Finds the engine (environment, Docker contexts, usual sockets), and connects to it.

Through ssh as the docker command does, with `docker system dial-stdio`.
"""

import os
import shlex
import socket
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.docker_config import context_addresses, docker_config
from smlocal.errors import EngineRemoteError, EngineUnreachableError

if TYPE_CHECKING:
    from ssl import SSLContext  # takes 20 ms, only for TLS

DEFAULT_ADDRESS = "unix:///var/run/docker.sock"
DEFAULT_CONTEXT = "default"
"""The docker command's name for DOCKER_HOST, or for the usual socket without it."""
_WITHOUT_TLS = ("unix://", "ssh://")
CONNECT_SECONDS = 15.0
_SSH_SECONDS = 30
_KEEPING_ALIVE = {
    "TCP_KEEPIDLE": 15,
    "TCP_KEEPALIVE": 15,  # its name on macOS
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 30_000,  # milliseconds
}
"""A connection ends after half a minute of silence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineAddress:
    """A parsed engine address."""

    address: str
    path: str = ""
    """The path of the Unix socket; empty for others."""
    host: str = ""
    port: int = 0
    tls: "SSLContext | None" = None
    command: tuple[str, ...] = ()
    """The command that connects through ssh."""
    name: str = ""
    """The address or the Docker context by which it was named; empty for the engine that the docker command uses."""

    @property
    def local(self) -> bool:
        """True if it is a Unix socket of this machine."""
        return bool(self.path)

    @property
    def docker_command(self) -> tuple[str, ...]:
        """The docker command, for this engine."""
        if not self.name:
            return ("docker",)
        return ("docker", "--host" if "://" in self.name else "--context", self.name)

    def connect(self, seconds: float = CONNECT_SECONDS) -> socket.socket:
        """Open a connection within this time. The connection itself has no timeout."""
        if self.command:
            return connect_by_ssh(self.command)
        if not self.path:
            return self._connect_network(seconds)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(seconds)
            connection.connect(self.path)
            connection.settimeout(None)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_network(self, seconds: float) -> socket.socket:
        connection = socket.create_connection((self.host, self.port), timeout=seconds)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _keep_alive(connection)
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_hostname=self.host)
            connection.settimeout(None)
        except BaseException:
            connection.close()
            raise
        return connection


def _keep_alive(connection: socket.socket) -> None:
    """Let the kernel detect a lost peer, and keep the connection alive in firewalls."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPING_ALIVE.items():
        if hasattr(socket, option):  # not every system has all of them
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def find_endpoint() -> EngineAddress:
    """Search as the docker command does."""
    host = _host_of_environment()
    return _with_environment_tls(host) if host else _endpoint_of_context(_current_context())


def endpoint_named(name: str) -> EngineAddress:
    """The engine at an address, which has `://`, or of a Docker context. `default` is what the docker command means."""
    if "://" in name:
        found = _with_environment_tls(name)
    elif name == DEFAULT_CONTEXT and _host_of_environment():
        found = find_endpoint()
    else:
        found = _endpoint_of_context(name)
    return replace(found, name=name)


def endpoint_at(address: str) -> EngineAddress:
    """The engine at an address that an endpoint had earlier. TLS as the context with this address has it, if any."""
    if address.startswith(_WITHOUT_TLS):
        return parse_address(address, None)
    contexts = [context for context, its in context_addresses().items() if its == address]
    if not contexts or address == _host_of_environment():
        return _with_environment_tls(address)
    current = _current_context()
    return _endpoint_of_context(current if current in contexts else contexts[0])


def _host_of_environment() -> str:
    return os.environ.get("DOCKER_HOST", "").strip()


def context_in_use() -> str | None:
    """The Docker context by which the engine is found; None if an address is set."""
    return None if _host_of_environment() else _current_context()


def _current_context() -> str:
    return str(os.environ.get("DOCKER_CONTEXT") or docker_config().get("currentContext") or DEFAULT_CONTEXT)


def _endpoint_of_context(context: str) -> EngineAddress:
    if context == DEFAULT_CONTEXT:
        return parse_address(_default_address(), None)
    from smlocal.engine.contexts import read_context  # imports the docker SDK, which takes a third of a no-op job

    return parse_address(*read_context(context))


def _with_environment_tls(address: str) -> EngineAddress:
    if address.startswith(_WITHOUT_TLS) or not (
        os.environ.get("DOCKER_TLS_VERIFY") or os.environ.get("DOCKER_CERT_PATH")
    ):
        return parse_address(address, None)
    from smlocal.engine.contexts import environment_tls  # as above

    return parse_address(address, environment_tls())


def _default_address() -> str:
    """The usual socket; if it does not exist, that of a place, of rootless Docker or of Podman."""
    own = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}"
    others = ("/docker/proxy.sock", f"{own}/docker.sock", f"{own}/podman/podman.sock", "/run/podman/podman.sock")
    if os.path.exists(DEFAULT_ADDRESS.removeprefix("unix://")):
        return DEFAULT_ADDRESS
    return next((f"unix://{path}" for path in others if os.path.exists(path)), DEFAULT_ADDRESS)


def parse_address(address: str, tls: "SSLContext | None") -> EngineAddress:
    """Parse an address; raises an error if it is not supported."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        scheme, rest = "tcp", address  # `DOCKER_HOST=host:2375` is tcp for the docker command too
    if scheme == "unix":
        return EngineAddress(address=address, path=rest if rest.startswith("/") else "/" + rest)
    if scheme in {"tcp", "http", "https"}:
        if scheme == "https" and tls is None:
            from ssl import create_default_context

            tls = create_default_context()
        return _network(address, rest, tls)
    if scheme == "ssh":
        return EngineAddress(address=address, command=ssh_command(address))
    what = "a Windows pipe" if scheme == "npipe" else f"an engine over {scheme}://"
    raise EngineRemoteError(
        f"{address} is {what}: smlocal supports unix://, tcp:// and ssh://",
        remedy=("Choose a local engine: docker context use default, or set DOCKER_HOST=unix:///var/run/docker.sock",),
    )


def _network(address: str, authority: str, tls: "SSLContext | None") -> EngineAddress:
    from urllib.parse import urlsplit  # as above

    try:
        parts = urlsplit(f"//{authority}")
        port = parts.port or (2376 if tls else 2375)
    except ValueError as error:
        raise EngineUnreachableError(
            f"{address} is not a valid engine address",
            details=(str(error),),
            remedy=("Write it as unix:///path or tcp://host:port.",),
        ) from error
    return EngineAddress(address=address, host=parts.hostname or "localhost", port=port, tls=tls)


def ssh_command(address: str) -> tuple[str, ...]:
    """The command that connects to `ssh://[user@]host[:port][/path/of/its/socket]`."""
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise _no_address(address) from None
    if not parts.hostname or parts.password or parts.query or parts.fragment:
        raise _no_address(address)
    # BatchMode: fail with ssh's own message instead of asking for a password.
    command = ["ssh", "-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_SSH_SECONDS}"]
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
    import subprocess  # as above

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
