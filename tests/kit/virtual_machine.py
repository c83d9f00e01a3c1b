"""An engine as in the virtual machine of a Mac: another kernel, few folders of this one, and ports that are passed on.

What cannot be had here: another kernel in fact, and the file system by which folders are shared. This machine's is
known by another name, which the forwarder of the socket writes into the engine's answers.
"""

import ctypes
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

from tests.kit.own_engine import OwnEngine, short_folder

_ELSEWHERE = ("/tmp", "/root", "/home", "/work", "/srv", "/opt", "/media", "/var/tmp")
"""Where people and tests have their data."""
_NOBODY = 65534
_CLONE_NEWNET = 0x40000000
_LOOK_SECONDS = 0.05
_ASKS = re.compile(rb"GET (/v[0-9.]+)?/info ")
_RELEASE = os.uname().release.encode()
_OTHER_RELEASE = _RELEASE[:-1] + (b"#" if _RELEASE[-1:] != b"#" else b"+")


@dataclass(kw_only=True)
class VirtualMachine:
    """Call `start`, and `close` in any case."""

    shared: tuple[Path, ...]
    """The folders of this machine that it has at the same path."""
    image: str
    same_kernel: bool = False
    """As that of Colima on a Linux whose kernel is the same."""
    folder: Path = field(default_factory=short_folder)
    engine: OwnEngine = field(init=False)
    _forwarder: "subprocess.Popen[str] | None" = None
    _ports: "_Ports | None" = None

    def __post_init__(self) -> None:
        shared = (*self.shared, self.folder)
        self.engine = OwnEngine(hidden=tuple(map(Path, _ELSEWHERE)), shared=shared, image=self.image)

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/engine.sock"

    def start(self) -> None:
        self.engine.start()
        assert self.engine.process is not None
        inner = self.engine.folder / "docker.sock"
        network = f"--net=/proc/{self.engine.process.pid}/ns/net"
        subprocess.run(["nsenter", network, "ip", "link", "set", "lo", "up"], check=True)
        # As on a Mac: a program of the user's passes the socket on, for example ssh.
        self.folder.chmod(0o755)
        self.engine.folder.chmod(0o755)
        inner.chmod(0o666)
        release = _RELEASE if self.same_kernel else _OTHER_RELEASE
        self._forwarder = subprocess.Popen(
            [sys.executable, "-m", "tests.kit.virtual_machine", inner, self.folder / "engine.sock", release],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._forwarder.stdout is not None
        assert self._forwarder.stdout.readline() == "ready\n"
        self._ports = _Ports(inner, self.engine.process.pid)

    def close(self) -> None:
        if self._ports is not None:
            self._ports.close()
        if self._forwarder is not None:
            self._forwarder.kill()
            self._forwarder.communicate()
        self.engine.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def virtual_machine(*shared: Path, image: str, same_kernel: bool = False) -> Iterator[VirtualMachine]:
    machine = VirtualMachine(shared=shared, image=image, same_kernel=same_kernel)
    try:
        machine.start()
        yield machine
    finally:
        machine.close()


class _Ports:
    """Listens at 127.0.0.1 of this machine at each port that a container publishes, and passes connections on."""

    def __init__(self, engine: Path, process: int) -> None:
        self._engine, self._network = engine, f"/proc/{process}/ns/net"
        self._listeners: dict[int, socket.socket] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        for each in self._listeners.values():
            _shut(each)

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            with suppress(OSError, ValueError):
                published = set(self._published())
                for port in self._listeners.keys() - published:
                    _shut(self._listeners.pop(port))
                for port in published - self._listeners.keys():
                    self._listeners[port] = socket.create_server(("127.0.0.1", port))
                    threading.Thread(target=self._accept, args=(self._listeners[port], port), daemon=True).start()

    def _published(self) -> Iterator[int]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._engine))
            connection.sendall(b"GET /containers/json HTTP/1.0\r\n\r\n")
            answer = HTTPResponse(connection)
            answer.begin()
            for container in json.loads(answer.read()):
                yield from (each["PublicPort"] for each in container["Ports"] if each.get("PublicPort"))

    def _accept(self, listener: socket.socket, port: int) -> None:
        with suppress(OSError):
            while True:
                near = listener.accept()[0]
                threading.Thread(target=self._connect, args=(near, port), daemon=True).start()

    def _connect(self, near: socket.socket, port: int) -> None:
        with near, suppress(OSError):
            _enter(self._network)  # this thread alone
            with socket.create_connection(("127.0.0.1", port)) as far:
                _pass(near, far)


def _enter(network: str) -> None:
    with open(network, "rb") as namespace:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(namespace.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")


def _shut(listener: socket.socket) -> None:
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _pass(near: socket.socket, far: socket.socket, release: bytes = _RELEASE) -> None:
    """Until one side is done. The engine's answer about itself gets another kernel."""
    asked, kept = False, b""
    open_sides = {near: far, far: near}
    while open_sides:
        for ready in select.select([*open_sides], [], [])[0]:
            piece = ready.recv(1 << 18)
            other = open_sides[ready]
            if ready is near:
                asked = asked or _ASKS.match(piece) is not None
            elif asked and release != _RELEASE:
                piece, kept = _renamed(kept + piece, release, last=not piece)
            if piece:
                other.sendall(piece)
            elif ready is near or not kept:
                del open_sides[ready]
                with suppress(OSError):
                    other.shutdown(socket.SHUT_WR)
                if ready is far:
                    return


def _renamed(data: bytes, release: bytes, *, last: bool) -> tuple[bytes, bytes]:
    """The data to pass on, and its end if that may be the beginning of the name."""
    data = data.replace(_RELEASE, release)
    kept = next((n for n in range(len(_RELEASE) - 1, 0, -1) if data.endswith(_RELEASE[:n])), 0)
    return (data, b"") if last or not kept else (data[:-kept], data[-kept:])


def _serve(engine: str, path: str, release: str) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o666)
    os.chown(path, _NOBODY, _NOBODY)
    Path("/proc/self/comm").write_text("ssh")
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)
    listener.listen(128)  # the kernel tells the user and the process that did this
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def serve(near: Any) -> None:
        with near, socket.socket(socket.AF_UNIX) as far, suppress(OSError):
            far.connect(engine)
            _pass(near, far, release.encode())

    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
