"""Reads the output of a container from the engine's frames, and the standard streams of one process in it."""

import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from struct import Struct
from typing import Final

from smlocal.base.regex import regex
from smlocal.engine.client import Client
from smlocal.engine.http import Answer, Call, UnexpectedAnswerError
from smlocal.engine.interface import Written
from smlocal.errors import EngineError

# The lines of both streams are put together from the pieces that arrive.

_HEAD: Final = Struct(">B3xI")
"""The head of a frame: number of the stream, three zeros, length of the payload."""
MOST_HELD: Final = 1 << 20
"""The maximum size of an incomplete line. A longer line is passed on in pieces."""
_DOCKERS_PART: Final = 16 * 1024
"""Docker splits longer lines into parts of exactly this size; only the last part is shorter."""
_LONGEST: Final = 64 * 1024 * 1024
"""The maximum size of a frame. Engines split lines long before."""
_SECONDS: Final = len("2026-11-20T14:12:07")


class AttachedOutput:
    """The output of an attached container. It also ends if the engine is lost, which `wait` reports."""

    def __init__(self, answer: Answer) -> None:
        """Take an upgraded connection."""
        self._answer = answer
        self._iterated = False

    def __iter__(self) -> Iterator[Written]:
        """Yield the output of each read, and at the end the last lines without a newline."""
        self._iterated = True
        lines = WholeLines()
        try:
            for pieces in payloads(self._answer.rest()):
                yield Written(lines.take(pieces), pieces)
        except (OSError, ValueError):  # OSError: the engine is lost; ValueError: closed by another thread
            pass
        finally:
            self._answer.close()
        if rest := lines.rest():
            yield Written(rest, [])

    def close(self) -> None:
        """End the iteration, from any thread."""
        self._answer.shutdown()
        if not self._iterated:
            self._answer.close()


class Frames:
    """Takes the engine's frames apart.

    Incomplete payloads are not held back: a frame may be as long as the longest write of a container.
    """

    __slots__ = ("_kept", "_missing", "_stream")

    def __init__(self) -> None:
        self._kept = b""
        """An incomplete head."""
        self._missing = 0
        """Bytes of the present payload."""
        self._stream = 0

    def take(self, read: bytes) -> list[tuple[int, bytes]]:
        """The payloads in one read with the numbers of their streams, in the engine's order."""
        data = self._kept + read if self._kept else read
        end = len(data)
        stream = self._stream
        position = self._missing
        pieces = [(stream, data[:position])] if position else []
        while position + 8 <= end:
            stream, size = _HEAD.unpack_from(data, position)
            start = position + 8
            position = start + size
            if size and start < end:
                pieces.append((stream, data[start:position]))
        self._stream = stream
        self._missing = max(0, position - end)
        self._kept = data[position:]
        return pieces


def payloads(reads: Iterable[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the payloads of each read that has some."""
    frames = Frames()
    for read in reads:
        if pieces := frames.take(read):
            yield pieces


class WholeLines:
    """Takes pieces of several streams in their order of arrival, and returns complete lines.

    The lines of a stream keep their order, and no byte is lost. A newline is added only where two lines would be
    joined: after a line longer than `MOST_HELD` that the other stream interrupts, and between incomplete last lines.
    """

    def __init__(self) -> None:
        """Begin at the start of a line of each stream."""
        self._held: dict[int, bytearray] = {}
        """The incomplete lines by stream."""
        self._open: int | None = None
        """The stream with a line that was too long to keep and has not ended yet."""

    def take(self, pieces: Iterable[tuple[int, bytes]]) -> bytes:
        """Return the lines that are complete now. A piece is the number of a stream and bytes."""
        out: list[bytes | bytearray] = []
        for stream, data in pieces:
            held = self._held.get(stream)
            end = data.rfind(b"\n") + 1
            if end:
                self._end_long_line(stream, out)
                self._open = None
                if held is not None:
                    out.append(held)
                    del self._held[stream]
                if end == len(data):
                    out.append(data)
                    continue
                out.append(data[:end])
                held = self._held[stream] = bytearray(data[end:])
            elif self._open == stream:
                out.append(data)
                continue
            elif held is None:
                held = self._held[stream] = bytearray(data)
            else:
                held += data
            if len(held) > MOST_HELD:
                self._end_long_line(stream, out)
                self._open = stream
                out.append(self._held.pop(stream))
        return b"".join(out)

    def rest(self) -> bytes:
        """Return the last lines, which have no newline."""
        lines = list(self._held.values())
        if self._open is not None and lines:
            lines.insert(0, bytearray())
        self._held, self._open = {}, None
        return b"\n".join(lines)

    def _end_long_line(self, stream: int, out: list[bytes | bytearray]) -> None:
        if self._open is not None and self._open != stream:
            out.append(b"\n")


def timestamped_lines(reads: Iterable[bytes], *, docker: bool) -> Iterator[tuple[float | None, bytes]]:
    """Yield the complete lines of a log with timestamps, and their times; None for a frame without a time.

    Each frame is a line or a part of a long line, and between such parts there may be lines of the other stream.
    `docker`: the last part has no newline (seen with Docker 20.10).
    """
    seconds: dict[bytes, float] = {}
    lines = WholeLines()
    at: float | None = None
    kept = b""
    for read in reads:
        data = kept + read if kept else read
        position, end = 0, len(data)
        while position + _HEAD.size <= end:
            start = position + _HEAD.size
            stream, size = _HEAD.unpack_from(data, position)
            after = start + size
            if after > end:
                if after - start > _LONGEST:
                    raise UnexpectedAnswerError(f"a line of {after - start} bytes")
                break
            position = after
            at, payload = _time_and_text(data[start:after], seconds)
            if docker and len(payload) < _DOCKERS_PART and not payload.endswith(b"\n"):
                payload += b"\n"
            if whole := lines.take(((stream, payload),)):
                yield at, whole
        kept = data[position:]
    if rest := lines.rest():
        yield at, rest


def _time_and_text(payload: bytes, seconds: dict[bytes, float]) -> tuple[float | None, bytes]:
    stamp, space, rest = payload.partition(b" ")
    second, fraction = stamp[:_SECONDS], stamp[_SECONDS:]
    if not space or fraction[-1:] != b"Z":
        return None, payload
    try:
        if second not in seconds:
            seconds.clear()  # only the latest second is needed
            from datetime import datetime  # jobs whose first supervisor lives read no log

            seconds[second] = datetime.fromisoformat(f"{second.decode()}+00:00").timestamp()
        return seconds[second] + float(fraction[:-1] or 0), rest
    except ValueError:
        return None, payload


_PIECE = 64 * 1024
"""Not less than a TLS record: bytes in OpenSSL's own buffer cannot be waited for."""
_KEYS: Final = ",".join(["ctrl-@"] * 8)
"""The keys that detach. It cannot be turned off, and the default would hold back each Ctrl-P."""
_NOT_STARTED = regex(rb"OCI runtime exec failed: |Error: (?:runc|crun|OCI runtime)\b")
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
    """Wait for a process after its streams closed. Usually it has ended already."""
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
