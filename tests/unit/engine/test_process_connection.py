"""The streams of a process in a container, over a connection that a test serves."""

import socket
import ssl
from pathlib import Path
from select import select
from threading import Thread

import pytest

from smlocal.engine.http import CallLimit, exchange
from smlocal.engine.output import ProcessConnection
from smlocal.errors import EngineError

HEAD = b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
NOT_STARTED = b'OCI runtime exec failed: exec failed: exec: "x": executable file not found in $PATH: unknown\r\n'


def connection(*sent: bytes, code: int = 0, terminal: bool = True) -> tuple[ProcessConnection, socket.socket]:
    """The second one is the engine's end, which has sent this after the head."""
    ours, theirs = socket.socketpair()
    theirs.sendall(HEAD + b"".join(sent))
    limit = CallLimit(pause=200, total=200, quiet=200, still=lambda: None)
    answer = exchange(ours, "POST", "/exec/x/start", limit=limit)
    theirs.recv(65536)
    return ProcessConnection(answer, resize=lambda _, __: None, exit_code=lambda: code, terminal=terminal), theirs


def everything(streams: ProcessConnection) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    while (pieces := streams.read()) is not None:
        found += pieces
    return found


def test_what_came_with_the_head_is_not_lost() -> None:
    streams, theirs = connection(b"prompt")
    assert streams.read() == [(1, b"prompt")]
    assert streams.read() == []  # it does not wait
    theirs.close()
    assert streams.read() is None
    streams.close()


def test_both_streams_without_a_terminal() -> None:
    streams, theirs = connection(b"\x01\0\0\0\0\0\0\x03out\x02\0\0\0\0\0\0\x03e", terminal=False)
    theirs.sendall(b"rr")
    theirs.close()
    found = everything(streams)
    assert [b"".join(data for number, data in found if number == stream) for stream in (1, 2)] == [b"out", b"err"]
    streams.close()


def test_a_full_connection_takes_no_more_and_the_end_of_input_is_seen() -> None:
    streams, theirs = connection()
    sent = 0
    while went := streams.write(bytes(1 << 16)):
        sent += went
    streams.end_input()
    got = 0
    while piece := theirs.recv(1 << 16):
        got += len(piece)
    assert got == sent
    theirs.sendall(b"still there")
    assert streams.read() == [(1, b"still there")]
    theirs.close()
    streams.close()


def test_the_engines_words_about_a_process_that_was_not_started() -> None:
    streams, theirs = connection(NOT_STARTED, code=126)
    theirs.close()
    with pytest.raises(EngineError, match="executable file not found") as caught:
        everything(streams)
    assert caught.value.status == 400
    streams.close()


@pytest.mark.parametrize(("code", "more"), [(0, b""), (126, b"x" * 5000)])
def test_a_process_that_begins_with_the_same_words(code: int, more: bytes) -> None:
    streams, theirs = connection(NOT_STARTED, more, code=code)
    theirs.close()
    assert b"".join(data for _, data in everything(streams)) == NOT_STARTED + more
    streams.close()


def test_the_end_of_input_over_tls(certificates: Path) -> None:
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    trusting = ssl.create_default_context(cafile=str(certificates / "ca.pem"))
    one, other = socket.socketpair()
    seen = bytearray()

    def serve() -> None:
        """As an engine: it answers after the end of the input."""
        with served.wrap_socket(other, server_side=True, suppress_ragged_eofs=True) as engine:
            engine.recv(65536)
            engine.sendall(HEAD)
            engine.sendall(b"before the end, ")
            while piece := engine.recv(65536):
                seen.extend(piece)
            engine.sendall(b"after the end")

    thread = Thread(target=serve)
    thread.start()
    ours = trusting.wrap_socket(one, server_hostname="localhost")
    limit = CallLimit(pause=200, total=200, quiet=200, still=lambda: None)
    answer = exchange(ours, "POST", "/exec/x/start", limit=limit)
    streams = ProcessConnection(answer, resize=lambda _, __: None, exit_code=lambda: 0, terminal=True)
    assert streams.write(b"the input") == 9
    streams.end_input()
    found = b""
    while select([streams], [], [], 200)[0] and (pieces := streams.read()) is not None:
        found += b"".join(data for _, data in pieces)
    assert (bytes(seen), found) == (b"the input", b"before the end, after the end")
    streams.close()
    thread.join(200)
