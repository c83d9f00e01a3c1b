"""Where the engine is: the environment, then Docker's contexts, then the usual socket; and how to connect to it."""

import json
import os
import socket
from typing import Any

from smlocal.errors import EngineRemoteError, EngineUnreachableError
from smlocal.quick_dataclass import dataclass

DEFAULT_ADDRESS = "unix:///var/run/docker.sock"
CONNECT_SECONDS = 15.0
_KEEPING_ALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}
"""Half a minute without a sign of life ends a connection; the last is in milliseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tls:
    """Certificates for an engine behind TLS: a folder with ca.pem, cert.pem and key.pem, each of them optional."""

    folder: str
    verify: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """An engine's address, taken apart."""

    address: str
    path: str = ""
    """Of the unix socket; empty for a network address."""
    host: str = ""
    port: int = 0
    tls: Tls | None = None
    command: tuple[str, ...] = ()
    """What is run to reach an engine behind ssh."""

    @property
    def local(self) -> bool:
        """True when bind mounts reach this machine's folders."""
        return bool(self.path)

    def connect(self, seconds: float = CONNECT_SECONDS) -> socket.socket:
        """Open a connection within so many seconds. It then blocks for as long as it takes, until told otherwise."""
        if self.command:
            from smlocal.engine.ssh import connect_by_ssh  # most engines are here

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
                connection = _wrap(connection, self.host, self.tls)
            connection.settimeout(None)
        except BaseException:
            connection.close()
            raise
        return connection


def _keep_alive(connection: socket.socket) -> None:
    """Have the kernel notice a peer that has vanished, and keep firewalls from forgetting a connection in silence."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPING_ALIVE.items():
        if hasattr(socket, option):  # not every system has all of them
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def find_endpoint() -> Endpoint:
    """Look where the docker command looks, in its order."""
    host = os.environ.get("DOCKER_HOST", "").strip()
    if host:
        tls = Tls(folder=os.environ.get("DOCKER_CERT_PATH") or docker_folder())
        return parse_address(host, tls if os.environ.get("DOCKER_TLS_VERIFY") else None)
    context = os.environ.get("DOCKER_CONTEXT") or docker_config().get("currentContext") or "default"
    if context == "default":
        return parse_address(_default_address(), None)
    return _from_context(str(context))


def endpoint_at(address: str) -> Endpoint:
    """The engine at an address that `find_endpoint` has once given, also where it gives another one now."""
    found = find_endpoint()
    if found.address == address:
        return found
    tls = Tls(folder=os.environ.get("DOCKER_CERT_PATH") or docker_folder())
    return parse_address(address, tls if os.environ.get("DOCKER_TLS_VERIFY") else None)


def _default_address() -> str:
    """The usual socket; where there is none, that of an engine which answers in the same words."""
    own = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}"
    others = (f"{own}/docker.sock", f"{own}/podman/podman.sock", "/run/podman/podman.sock")
    if os.path.exists(DEFAULT_ADDRESS.removeprefix("unix://")):
        return DEFAULT_ADDRESS
    return next((f"unix://{path}" for path in others if os.path.exists(path)), DEFAULT_ADDRESS)


def parse_address(address: str, tls: Tls | None) -> Endpoint:
    """Take an address apart; what cannot be served gets an error that says why."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        scheme, rest = "tcp", address  # `DOCKER_HOST=host:2375` is tcp for the docker command too
    if scheme == "unix":
        return Endpoint(address=address, path=rest if rest.startswith("/") else "/" + rest)
    if scheme in {"tcp", "http", "https"}:
        if scheme == "https" and tls is None:
            tls = Tls(folder=docker_folder())
        return _network(address, rest.partition("/")[0], tls)
    if scheme == "ssh":
        from smlocal.engine.ssh import ssh_command

        return Endpoint(address=address, command=ssh_command(address))
    what = "a Windows pipe" if scheme == "npipe" else f"an engine over {scheme}://"
    raise EngineRemoteError(
        f"{address} is {what}: smlocal speaks over unix://, tcp:// and ssh://",
        remedy=("Choose a local engine: docker context use default, or set DOCKER_HOST=unix:///var/run/docker.sock",),
    )


def docker_folder() -> str:
    """Return the folder of the docker command's own configuration."""
    return os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")


def docker_config() -> dict[str, Any]:
    """Read the docker command's config.json; a missing or unreadable one is empty, as for that command."""
    path = f"{docker_folder()}/config.json"
    try:
        with open(path, "rb") as file:
            document = json.load(file)
    except OSError:
        return {}
    except ValueError as error:
        raise EngineUnreachableError(
            f"{path} is not JSON, so the engine it names cannot be found",
            details=(str(error),),
            remedy=("Mend the file, or set DOCKER_HOST to the engine's socket.",),
        ) from error
    return document if isinstance(document, dict) else {}


def _from_context(name: str) -> Endpoint:
    import hashlib  # only contexts need it

    digest = hashlib.sha256(name.encode()).hexdigest()
    folder = f"{docker_folder()}/contexts"
    try:
        with open(f"{folder}/meta/{digest}/meta.json", "rb") as file:
            docker = json.load(file)["Endpoints"]["docker"]
        address = str(docker["Host"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineUnreachableError(
            f'the Docker context "{name}" is not known',
            remedy=("See docker context ls; choose one with docker context use NAME, or set DOCKER_HOST.",),
        ) from error
    certificates = f"{folder}/tls/{digest}/docker"
    tls = Tls(folder=certificates, verify=not docker.get("SkipTLSVerify", False))
    return parse_address(address, tls if os.path.isdir(certificates) else None)


def _network(address: str, authority: str, tls: Tls | None) -> Endpoint:
    host, port = authority, ""
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        port = port.removeprefix(":")
    elif ":" in authority:
        host, _, port = authority.rpartition(":")
    if port and not port.isdecimal():
        raise EngineUnreachableError(
            f"{address} is not an engine's address: {port!r} is no port",
            remedy=("Write DOCKER_HOST as unix:///path or tcp://host:port.",),
        )
    number = int(port) if port else (2376 if tls else 2375)
    return Endpoint(address=address, host=host or "localhost", port=number, tls=tls)


def _wrap(connection: socket.socket, host: str, tls: Tls) -> socket.socket:
    import ssl  # 20 ms that only engines behind TLS pay

    authority = f"{tls.folder}/ca.pem"
    context = ssl.create_default_context(cafile=authority if os.path.exists(authority) else None)
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate = f"{tls.folder}/cert.pem"
    if os.path.exists(certificate):
        context.load_cert_chain(certificate, f"{tls.folder}/key.pem")
    return context.wrap_socket(connection, server_hostname=host)
