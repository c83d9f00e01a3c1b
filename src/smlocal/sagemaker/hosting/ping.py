"""Ask a container whether it is healthy."""

import socket
import time
from contextlib import suppress
from typing import Final

_REQUEST: Final = b"GET /ping HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n"
_FIRST_LINE: Final = 4096


def ping(address: tuple[str, int], *, seconds: float) -> str | None:
    """None if it has answered 200 in time; else why it is not healthy."""
    deadline = time.monotonic() + seconds
    try:
        # `create_connection` would import the codec of international names, for an address that has none.
        with socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET) as connection:
            connection.settimeout(seconds)
            connection.connect(address)
            connection.sendall(_REQUEST)
            answer = b""
            while b"\n" not in answer and len(answer) < _FIRST_LINE:
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                piece = connection.recv(_FIRST_LINE)
                if not piece:
                    break
                answer += piece
    except TimeoutError:
        return f"no answer to /ping within {seconds:g} s"
    except OSError as error:
        return f"nothing can be reached at port {address[1]}: {error.strerror or error}"
    words = answer.partition(b"\n")[0].split()
    with suppress(ValueError, IndexError):
        status = int(words[1])
        return None if status == 200 else f"/ping answered {status}"  # noqa: PLR2004 - HTTP
    return "what answers /ping is not an HTTP server"
