"""A place like SageMaker Studio: its engine, which does only what is known to be allowed there, and its machine.

The engine is a proxy in front of the real one, the machine a container that has nothing but the proxy's socket, a home
folder, and smlocal. Containers on the network `sagemaker` share the network of that machine, as in Studio. What is
allowed is listed in `_ALLOWED`; a call that is not known to be allowed there is refused here.
"""

import json
import os
import re
import select
import shutil
import socket
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.kit.fixtures import IMAGES, ROOT, build_image, run_docker

from smlocal.engine.endpoint import find_endpoint
from smlocal.engine.facts import Place

NOT_ALLOWED: Final = "The request for current resource is not allowed on SageMaker Studio."
NETWORK: Final = (
    "Forbidden. Reason: [ContainerCreate] SageMaker Studio Docker Usage only allows 'sagemaker' as network input"
)
BUILD: Final = "Forbidden. Reason: [ImageBuild] 'sagemaker' is the only user allowed network input"
PRIVILEGED: Final = (
    "Forbidden. Reason: [ContainerCreate] SageMaker Studio Docker Usage does not allow privileged mode execution"
)
BIND: Final = "Forbidden. Reason: [ContainerCreate] this proxy of the tests allows mounts from the home folder only"
UNKNOWN: Final = "Forbidden. Reason: [ContainerCreate] not known to be allowed on SageMaker Studio: "

_VERSIONED: Final = re.compile(r"/v\d+\.\d+(?=/)")
_ONE: Final = r"[^/]+"
_ALLOWED: Final = tuple(
    (method, re.compile(path))
    for method, path in (
        ("GET", r"/version"),
        ("GET|HEAD", r"/_ping"),
        ("POST", r"/build"),
        ("GET", r"/images/json"),
        ("GET", r"/images/.+/json"),
        ("POST", r"/images/create"),
        ("POST", r"/images/.+/(tag|push)"),
        ("DELETE", r"/images/(?!.*/get$).+"),
        ("POST", r"/containers/create"),
        ("GET", r"/containers/json"),
        ("GET", rf"/containers/{_ONE}/(json|logs)"),
        ("POST", rf"/containers/{_ONE}/(start|wait|attach|kill|stop|resize)"),
        ("DELETE", rf"/containers/{_ONE}"),
        ("POST", r"/volumes/create"),
        ("GET", rf"/volumes(/{_ONE})?"),
        ("DELETE", rf"/volumes/{_ONE}"),
    )
)
_RISKY: Final = ("CapAdd", "Devices", "Sysctls", "Tmpfs", "VolumesFrom", "PidMode", "UTSMode", "UsernsMode", "Runtime")
"""Members of a HostConfig of which it is not known whether Studio allows them, and which are avoidable."""
_LABEL: Final = "smlocal-tests-place"
"""Of everything that is made in a place: the id of the place's container."""
_LARGEST: Final = 1 << 24
_MOVED, _FORBIDDEN = 301, 403


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A call that the place does not allow."""

    method: str
    path: str
    status: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class _Request:
    method: str
    target: str
    headers: tuple[str, ...]
    """Lines."""
    rest: bytes
    """What has come of the body."""

    def header(self, name: str) -> str:
        begin = f"{name.lower()}:"
        return next((line[len(begin) :].strip() for line in self.headers if line.lower().startswith(begin)), "")


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class StudioEngine:
    """Each connection has a thread and is good for one call, as if each client said `Connection: close`."""

    def __init__(self, path: Path, *, home: Path, there: Path, container: Callable[[], str]) -> None:
        """`there` is the home's path in the place, and `container` the id of the place's own, which is made later."""
        self.path, self._home, self._there, self._container = path, home, there, container
        self.calls: list[str] = []
        """Method and path without version of each call that was passed on."""
        self.refused: list[Refused] = []
        self._also = re.compile("(?!)")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        path.chmod(0o666)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def refuse(self, call: str) -> None:
        """Refuse also calls that match, such as `GET /version`: it is not known for each whether Studio allows it."""
        self._also = re.compile(call)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, here: socket.socket) -> None:
        with here, suppress(OSError):
            request = _read_head(here)
            if request is None:
                return
            try:
                request = self._allowed(here, request)
            except _RefusedError as refused:
                self._refuse(here, request, refused.status, refused.reason)
                return
            upgraded = request.header("upgrade")
            kept = [line for line in request.headers if upgraded or not line.lower().startswith("connection:")]
            closing = () if upgraded else ("Connection: close",)
            lines = (f"{request.method} {request.target} HTTP/1.1", *kept, *closing, "", "")
            with find_endpoint().connect() as there:
                there.settimeout(None)
                there.sendall("\r\n".join(lines).encode("latin-1") + request.rest)
                _pass(here, there)

    def _allowed(self, here: socket.socket, request: _Request) -> _Request:
        """The request for the real engine; `_RefusedError` if there is none."""
        path = urlsplit(request.target).path
        if not (version := _VERSIONED.match(path)):
            raise _RefusedError(_MOVED, "Moved Permanently")
        path = path[version.end() :]
        call = f"{request.method} {path}"
        known = any(re.fullmatch(method, request.method) and allowed.fullmatch(path) for method, allowed in _ALLOWED)
        if not known or self._also.search(call):
            raise _RefusedError(_FORBIDDEN, NOT_ALLOWED)
        network = f"container:{self._container()}"
        if path == "/build":
            if parse_qs(urlsplit(request.target).query).get("networkmode") != ["sagemaker"]:
                raise _RefusedError(_FORBIDDEN, BUILD)
            target = request.target.replace("networkmode=sagemaker", f"networkmode={network}")
            request = replace(request, target=target)
        elif path in {"/containers/create", "/volumes/create"}:
            document = json.loads(_read_body(here, request) or b"{}")
            if why := self._wrong_in(path, document):
                raise _RefusedError(_FORBIDDEN, why)
            document["Labels"] = {**(document.get("Labels") or {}), _LABEL: self._container()}
            if path == "/containers/create":
                host = document["HostConfig"]
                host["NetworkMode"] = network
                host["Binds"] = [
                    f"{self._here(source)}:{rest}"
                    for source, _, rest in (b.partition(":") for b in host.get("Binds") or ())
                ]
                for mount in host.get("Mounts") or ():
                    mount["Source"] = self._here(mount.get("Source") or "")
            request = _with_body(request, json.dumps(document).encode())
        self.calls.append(call)
        return request

    def _refuse(self, here: socket.socket, request: _Request, status: int, reason: str) -> None:
        self.refused.append(Refused(method=request.method, path=request.target, status=status, reason=reason))
        body = json.dumps({"message": reason}).encode() if status != _MOVED else b""
        more = f"Location: {urlsplit(request.target).path}\r\n" if not body else "Content-Type: application/json\r\n"
        head = f"HTTP/1.1 {status} {'Moved Permanently' if not body else 'Forbidden'}\r\n{more}"
        head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        here.sendall(head.encode() + (b"" if request.method == "HEAD" else body))
        # Without it, an unread body would make the end of the connection a reset, and the answer be lost.
        here.shutdown(socket.SHUT_WR)
        here.settimeout(60)
        while here.recv(1 << 20):
            pass

    def _here(self, path: str) -> str:
        """The path on this machine of one in the place."""
        below = Path(path).is_relative_to(self._there)
        return str(self._home / Path(path).relative_to(self._there)) if below else path

    def _wrong_in(self, path: str, document: Mapping[str, Any]) -> str:
        """Why the document is refused, if it is."""
        if path == "/volumes/create":
            return NOT_ALLOWED if document.get("DriverOpts") else ""
        host = document.get("HostConfig") or {}
        if host.get("Privileged"):
            return PRIVILEGED
        if host.get("NetworkMode") != "sagemaker":
            return NETWORK
        binds = [source for bind in host.get("Binds") or () if (source := bind.partition(":")[0]).startswith("/")]
        for mount in host.get("Mounts") or ():
            if mount["Type"] == "bind":
                binds.append(mount["Source"])
            elif mount["Type"] != "volume" or (mount.get("VolumeOptions") or {}).get("DriverConfig"):
                return f"{UNKNOWN}{mount}"
        if outside := [
            each for each in binds if not Path(os.path.realpath(self._here(each))).is_relative_to(self._home)
        ]:
            return f"{BIND}: {outside[0]}"
        named = [name for name in _RISKY if host.get(name)]
        if (host.get("LogConfig") or {}).get("Type"):
            named.append("LogConfig")
        return f"{UNKNOWN}{', '.join(named)}" if named else ""


def _read_head(connection: socket.socket) -> _Request | None:
    received = b""
    while b"\r\n\r\n" not in received:
        data = connection.recv(65536)
        if not data:
            return None
        received += data
        assert len(received) < _LARGEST
    head, _, rest = received.partition(b"\r\n\r\n")
    first, *headers = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    return _Request(method=method, target=target, headers=tuple(headers), rest=rest)


def _read_body(connection: socket.socket, request: _Request) -> bytes:
    """The whole body of a request with a JSON document."""
    body = request.rest
    if request.header("transfer-encoding"):
        while not body.endswith(b"0\r\n\r\n"):
            data = connection.recv(65536)
            assert data, "the caller was gone before its request was complete"
            body += data
        whole = b""
        while body:
            size, _, body = body.partition(b"\r\n")
            length = int(size, 16)
            whole, body = whole + body[:length], body[length + 2 :]
        return whole
    length = int(request.header("content-length") or 0)
    while len(body) < length:
        data = connection.recv(65536)
        assert data, "the caller was gone before its request was complete"
        body += data
    return body


def _with_body(request: _Request, body: bytes) -> _Request:
    other = [each for each in request.headers if not re.match(r"(?i)(content-length|transfer-encoding|expect):", each)]
    headers = (*other, f"Content-Length: {len(body)}")
    return replace(request, headers=headers, rest=body)


def _pass(here: socket.socket, there: socket.socket) -> None:
    """Until the engine has said all; the end of what the client says is told to the engine."""
    both = [here, there]
    while True:
        for ready in select.select(both, [], [])[0]:
            data = ready.recv(1 << 16)
            if data:
                (there if ready is here else here).sendall(data)
            elif ready is there:
                return
            else:
                both.remove(here)
                there.shutdown(socket.SHUT_WR)


@dataclass(kw_only=True)
class StudioPlace:
    """A running place. Tests can look into its home, which usually has the same path on this machine."""

    home: Path
    """Of its user, as this machine calls it; below it everything is that containers can mount."""
    there: Path
    """The same in the place, $HOME."""
    container: str
    engine: StudioEngine
    user: str
    environment: Mapping[str, str] = field(default_factory=dict)
    begun: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def run(
        self,
        *command: str | Path,
        input: str | None = None,  # noqa: A002  the name that subprocess has for it
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command there, as in a terminal of Studio, with text in and out."""
        done = subprocess.run(
            self.command(*command, stdin=input is not None, env=env, cwd=cwd),
            input=input,
            capture_output=True,
            text=True,
            check=False,
        )
        if check:
            assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def begin(
        self, *command: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        """Begin a command there; the process is that of `docker exec`, whose end is not that of the command."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(self.command(*command, env=env, cwd=cwd), stdout=pipe, stderr=pipe, text=True)
        self.begun.append(process)
        return process

    def command(
        self,
        *command: str | Path,
        stdin: bool = False,
        terminal: bool = False,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Sequence[str]:
        """The command line, here, that runs a command there."""
        more = [
            each for name, value in {**self.environment, **(env or {})}.items() for each in ("-e", f"{name}={value}")
        ]
        options = (*(("-i",) if stdin or terminal else ()), *(("-t",) if terminal else ()))
        where = ("-w", str(cwd or self.there), "-u", self.user)
        return ("docker", "exec", *options, *where, *more, self.container, *map(str, command))

    def assert_nothing_refused(self) -> None:
        """What smlocal has asked of the engine so far is known to be allowed."""
        refused = "\n".join(f"{each.method} {each.path}: {each.status} {each.reason}" for each in self.engine.refused)
        assert not refused, refused

    def remove(self) -> None:
        """End it, with all that runs there, and remove what was made."""
        self.engine.close()
        here = ("--quiet", "--filter", f"label={_LABEL}={self.container}")
        run_docker("rm", "--force", "--volumes", self.container, *run_docker("ps", "--all", *here).split())
        if volumes := run_docker("volume", "ls", *here).split():
            run_docker("volume", "rm", "--force", *volumes)
        for process in self.begun:  # they end with the container
            process.communicate()

    def left(self) -> list[str]:
        """Containers and volumes that were made here and are still on the engine."""
        here = ("--quiet", "--filter", f"label={_LABEL}={self.container}")
        return [*run_docker("ps", "--all", "--no-trunc", *here).split(), *run_docker("volume", "ls", *here).split()]


_METADATA: Final = {
    "AppType": "JupyterLab",
    "DomainId": "d-0123456789ab",
    "ExecutionRoleArn": "arn:aws:iam::123456789012:role/space",
    "SpaceName": "tests",
    "ResourceArn": "arn:aws:sagemaker:eu-central-1:123456789012:app/d-0123456789ab/tests/JupyterLab/default",
    "ResourceName": "default",
}
_HERE: Final = "/opt/smlocal"
_USER: Final = "1000:100" if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"
"""That of Studio, or whoever runs the tests and can give folders to nobody else."""


@pytest.fixture
def place_of() -> Iterator[Callable[..., StudioPlace]]:
    """Makes places. `user` is that of its commands, as in `docker run --user`; `packages` are more folders of
    Python packages, which commands there can import; `there` is $HOME, if it has another path than on this machine."""
    folders: list[Path] = []
    places: list[StudioPlace] = []

    def make(
        *, app: str = "JupyterLab", user: str = _USER, packages: Sequence[Path] = (), there: Path | None = None
    ) -> StudioPlace:
        folder = Path(tempfile.mkdtemp(prefix="smlocal-place-"))
        folders.append(folder)
        place = _make_place(folder, app=app, user=user, packages=packages, there=there)
        places.append(place)
        return place

    yield make
    for place in places:
        place.remove()
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture
def place(place_of: Callable[..., StudioPlace]) -> StudioPlace:
    """A place of the usual user. A test asserts with `assert_nothing_refused` that nothing was refused."""
    return place_of()


def _make_place(
    folder: Path, *, app: str, user: str, packages: Sequence[Path], there: Path | None = None
) -> StudioPlace:
    folder.chmod(0o755)
    home = folder / "home"
    there = there or home
    home.mkdir()
    if os.geteuid() == 0:
        os.chown(home, int(user.partition(":")[0]), int(user.partition(":")[2] or 0))
    metadata = folder / "metadata"
    metadata.mkdir()
    (metadata / "resource-metadata.json").write_text(json.dumps({**_METADATA, "AppType": app}))
    container = ""
    engine = StudioEngine(folder / "docker.sock", home=home, there=there, container=lambda: container)
    mounted = {
        engine.path: "/var/run/docker.sock",
        home: str(there),
        metadata: "/opt/ml/metadata:ro",
        ROOT / "src": f"{_HERE}/src:ro",
        Path(sysconfig.get_path("purelib")): f"{_HERE}/packages:ro",
        **{each: f"{_HERE}/more/{number}:ro" for number, each in enumerate(packages)},
    }
    more = [f"{_HERE}/more/{number}" for number, _ in enumerate(packages)]
    python = ":".join((*more, f"{_HERE}/src", f"{_HERE}/packages"))
    environment = {"HOME": str(there), "PYTHONPATH": python, "PYTHONDONTWRITEBYTECODE": "1", "USER": "sagemaker-user"}
    container = run_docker(
        "run",
        *("--detach", "--init", "--label", f"{_LABEL}="),
        # Inferred: AWS's toolkit waits until it can look its host up, and the SDK gives it this name there.
        *("--add-host", f"{Place(app=app).host}:127.0.0.1"),
        *(each for source, target in mounted.items() for each in ("--volume", f"{source}:{target}")),
        build_image(IMAGES / "place"),
    ).strip()
    return StudioPlace(home=home, there=there, container=container, engine=engine, user=user, environment=environment)
