"""The engine of all tests, behind an address of the network: for smlocal it is on another machine."""

import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.kit import Run

from smlocal.engine.endpoint import EngineAddress, find_endpoint

_KEPT = 1 << 16
_NAME = b'"Name":"%s"' % os.uname().nodename.encode()
"""In an engine's answer about itself."""
_OTHER_NAME = _NAME[:-2] + b'#"'
_MOUNT = re.compile(rb'"Type": "(\w+)"')


@dataclass(kw_only=True)
class Relay:
    """Passes on every connection, and keeps the beginning of what the engine was asked."""

    listener: socket.socket
    engine: EngineAddress
    requests: list[bytes] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"

    @property
    def mounts(self) -> set[bytes]:
        """The kinds of mounts of all containers that were made."""
        created = [each for each in self.requests if b"/containers/create" in each.partition(b"\r\n")[0]]
        assert created
        return {kind for each in created for kind in _MOUNT.findall(each.partition(b'"Mounts"')[2])}

    def serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near = self.listener.accept()[0]
                threading.Thread(target=self._connected, args=(near,), daemon=True).start()

    def _connected(self, near: socket.socket) -> None:
        with near, self.engine.connect() as far:
            back = threading.Thread(target=_pass_on, args=(far, near), kwargs={"renamed": True}, daemon=True)
            back.start()
            self.requests.append(_pass_on(near, far))
            back.join()


def _pass_on(source: socket.socket, sink: socket.socket, *, renamed: bool = False) -> bytes:
    """Until there is no more; returns the beginning of it. `renamed`: the engine's machine has another name."""
    seen = bytearray()
    with suppress(OSError):
        while piece := source.recv(1 << 18):
            if renamed:
                piece = piece.replace(_NAME, _OTHER_NAME)
            sink.sendall(piece)
            seen += piece[: max(0, _KEPT - len(seen))]
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
    return bytes(seen)


@contextmanager
def relaying() -> Iterator[Relay]:
    """At work for the engine that everything here uses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        relay = Relay(listener=listener, engine=find_endpoint())
        threading.Thread(target=relay.serve, daemon=True).start()
        yield relay
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def relay() -> Iterator[Relay]:
    with relaying() as relay:
        yield relay


@pytest.fixture
def run_remotely(smlocal_run: Run, relay: Relay) -> Run:
    """As `smlocal_run`, with the engine at the relay's address."""

    def run(*arguments: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
        return smlocal_run(*arguments, cwd=cwd, env={"DOCKER_HOST": relay.address})

    return run
