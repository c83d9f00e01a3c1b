"""The engine not there, not ours, or gone half-way: the real one behind a relay that can be cut."""

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit import until

from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress, find_endpoint
from smlocal.engine.interface import ContainerSpec
from smlocal.errors import EngineLostError, EngineUnreachableError

Spec = Callable[..., ContainerSpec]


class Relay:
    """Passes bytes between its own socket and the engine's, until it is cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen = b""
        """The beginnings of what came from either side."""
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            there = find_endpoint().connect()
            self._open += [here, there]
            self._threads.append(threading.Thread(target=self._pass, args=(here, there)))
            self._threads[-1].start()

    def _pass(self, here: socket.socket, there: socket.socket) -> None:
        other = {here: there, there: here}
        with contextlib.suppress(OSError, ValueError):
            while True:
                for ready in select.select([here, there], [], [])[0]:
                    data = ready.recv(65536)
                    self.seen += data[:200]
                    if not data:
                        here.shutdown(socket.SHUT_RDWR)
                        there.shutdown(socket.SHUT_RDWR)
                        return
                    other[ready].sendall(data)

    def cut(self) -> None:
        for connection in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for connection in (self._listener, *self._open):
            connection.close()


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Relay]:
    relay = Relay(tmp_path / "engine.sock")
    yield relay
    relay.cut()


def test_a_cut_ends_the_wait_and_the_output(relay: Relay, spec: Spec) -> None:
    engine = DockerEngine(EngineAddress(address=f"unix://{relay.path}", path=str(relay.path)))
    container = engine.create(spec("echo ready; sleep 600"))
    output = iter(engine.attach(container))
    engine.start(container)
    assert next(output).lines == b"ready\n"
    ends: list[object] = []

    def wait() -> None:
        try:
            ends.append(engine.wait(container))
        except EngineLostError as error:
            ends.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    until(lambda: b"/wait" in relay.seen)
    relay.cut()
    waiter.join()
    assert list(output) == []
    (end,) = ends
    assert isinstance(end, EngineLostError)
    assert "stopped answering" in end.sentence
    with pytest.raises(EngineLostError, match="stopped answering"):
        engine.state(container)


def test_no_engine(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.sock", tmp_path / ("long" * 50)):
        with pytest.raises(EngineUnreachableError, match=f"no Docker engine answers at unix://{path}") as caught:
            DockerEngine(EngineAddress(address=f"unix://{path}", path=str(path))).facts()
        assert caught.value.exit_code == 3
        assert caught.value.details
        assert "systemctl start docker" in caught.value.remedy[0]


def test_no_engine_listens_any_more(tmp_path: Path) -> None:
    path = tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    with pytest.raises(EngineUnreachableError) as caught:
        DockerEngine(EngineAddress(address=f"unix://{path}", path=str(path))).owned()
    assert caught.value.details == ("Connection refused",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not use the socket")
def test_a_user_without_permission() -> None:
    code = """
import os, sys
from smlocal.engine.engines import connect
from smlocal.errors import EngineForbiddenError
engine = connect()
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    engine.facts()
except EngineForbiddenError as error:
    print(error.sentence, *error.remedy, sep="\\n")
    sys.exit(error.exit_code)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 3, ended.stderr
    assert "may not use the Docker engine at unix://" in ended.stdout
    assert "usermod -aG docker" in ended.stdout
    assert "newgrp docker" in ended.stdout
