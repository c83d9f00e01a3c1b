"""The standard streams of one process in a container, on a connection to the engine that never blocks."""

import os
import re
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from smlocal.engine.client import Client
from smlocal.engine.http import Answer
from smlocal.engine.output import Frames
from smlocal.engine.timeouts import Call
from smlocal.errors import EngineError

_PIECE = 64 * 1024
"""Not less than a TLS record: bytes in OpenSSL's own buffer cannot be waited for."""
_KEYS: Final = ",".join(["ctrl-@"] * 8)
"""The keys that detach. It cannot be turned off, and the default would hold back each Ctrl-P."""
_NOT_STARTED = re.compile(rb"OCI runtime exec failed: |Error: (?:runc|crun|OCI runtime)\b")
"""Docker and Podman write it into the stream if they could not start a process in a running container."""
_MOST_HELD = 4096
"""Bytes of their words: more is the output of a process that begins with the same words."""
_BAD_REQUEST = 400
_CANNOT_EXECUTE: Final = {126, 127}
_FIRST_LOOK, _LAST_LOOK = 0.01, 0.5
"""Seconds between two looks whether a process has ended."""


class ProcessConnection:
    """Implements `interface.ProcessStreams`. There is no time limit: a person may think for hours."""

    def __init__(
        self, answer: Answer, *, resize: Callable[[int, int], None], exit_code: Callable[[], int], terminal: bool
    ) -> None:
        """Take an upgraded connection."""
        self._answer = answer
        self._connection, self._early = answer.take_connection()
        self._frames = None if terminal else Frames()
        self._resize, self._exit_code = resize, exit_code
        self._begun = False
        self._held: list[tuple[int, bytes]] = []
        """Text that looks like the engine's words about a process that it could not start."""

    def fileno(self) -> int:
        """The number of the connection."""
        return self._connection.fileno()

    def read(self) -> list[tuple[int, bytes]] | None:
        """The bytes that have arrived.

        A connection that breaks has ended: `exit_code` tells whether the engine is lost.
        """
        pieces = self._received()
        if not pieces:
            if pieces is None and self._held:
                self._raise_if_not_started()
                held, self._held = self._held, []
                return held
            return pieces
        if self._held or (not self._begun and _NOT_STARTED.match(pieces[0][1])):
            self._held += pieces
            if sum(len(data) for _, data in self._held) < _MOST_HELD:
                return []
            pieces, self._held = self._held, []
        self._begun = True
        return pieces

    def _received(self) -> list[tuple[int, bytes]] | None:
        data, self._early = self._early, b""
        if not data:
            try:
                data = self._connection.recv(_PIECE)
            except OSError as error:
                return [] if _would_block(error) else None
            if not data:
                return None
        return [(1, data)] if self._frames is None else self._frames.take(data)

    def _raise_if_not_started(self) -> None:
        if self._exit_code() in _CANNOT_EXECUTE:
            words = b"".join(data for _, data in self._held).decode(errors="replace")
            raise EngineError(words.strip().partition("\n")[0].strip(), status=_BAD_REQUEST)

    def write(self, data: bytes) -> int:
        """Send what the connection takes now. Bytes for a process that has ended are dropped."""
        try:
            return self._connection.send(data)
        except OSError as error:
            return 0 if _would_block(error) else len(data)

    def end_input(self) -> None:
        """Close our half of the connection."""
        unwrap = getattr(self._connection, "unwrap", None)
        with suppress(OSError):
            if unwrap is None:
                self._connection.shutdown(socket.SHUT_WR)
            else:
                _end_tls_input(self._connection, unwrap)

    def resize(self, rows: int, columns: int) -> None:
        """Ask the engine; not for a terminal that is not there yet, or not any more."""
        with suppress(EngineError):
            self._resize(rows, columns)

    def exit_code(self) -> int:
        """Ask the engine."""
        return self._exit_code()

    def close(self) -> None:
        """Close the connection."""
        self._answer.close()


def attach_streams(client: Client, container: str, wait: Callable[[str], int], *, terminal: bool) -> ProcessConnection:
    """Attach to a container."""
    parameters = {"stream": "1", "stdin": "1", "stdout": "1", "stderr": "1", "detachKeys": _KEYS}
    path = f"/containers/{container}"
    return ProcessConnection(
        client.attach(f"{path}/attach", parameters=parameters),
        resize=lambda rows, columns: _set_size(client, path, rows, columns),
        exit_code=lambda: wait(container),
        terminal=terminal,
    )


def execute(client: Client, container: str, command: Sequence[str], *, terminal: bool) -> ProcessConnection:
    """Start a process in a container."""
    document = {
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Cmd": list(command),
        "DetachKeys": _KEYS,
        "Tty": terminal,
    }
    path = f"/exec/{client.post(f'/containers/{container}/exec', document)['Id']}"
    return ProcessConnection(
        client.attach(f"{path}/start", document={"Detach": False, "Tty": terminal}),
        resize=lambda rows, columns: _set_size(client, path, rows, columns),
        exit_code=lambda: _exit_code(client, path),
        terminal=terminal,
    )


def _set_size(client: Client, path: str, rows: int, columns: int) -> None:
    client.tell("POST", f"{path}/resize", parameters={"h": str(rows), "w": str(columns)}, call=Call.GLANCE)


def _exit_code(client: Client, path: str) -> int:
    """Usually the process has ended; one that has closed its streams may still run."""
    pause = _FIRST_LOOK
    while (document := client.read(f"{path}/json"))["Running"]:
        time.sleep(pause)
        pause = min(pause * 2, _LAST_LOOK)
    return int(document["ExitCode"])


def _end_tls_input(connection: socket.socket, unwrap: Callable[[], object]) -> None:
    """Send TLS's message that nothing more comes, and still receive.

    Python sends it and then reads the other side's, and data that comes instead would break the connection. So it gets
    another socket for that moment, which nothing comes from.
    """
    number = connection.fileno()
    engine, (nothing, message) = os.dup(number), socket.socketpair()
    with nothing, message:
        nothing.setblocking(False)
        os.dup2(nothing.fileno(), number, inheritable=False)
        try:
            with suppress(OSError):
                unwrap()
        finally:
            os.dup2(engine, number, inheritable=False)
            os.close(engine)
        message.setblocking(False)
        os.write(number, message.recv(_PIECE))


def _would_block(error: OSError) -> bool:
    """True if it is only too early; TLS has errors of its own for that."""
    return isinstance(error, BlockingIOError) or type(error).__name__ in {"SSLWantReadError", "SSLWantWriteError"}
