"""A network in between: prints a port of this machine that leads to another with so many bytes a second: PORT RATE."""

import socket
import sys
import threading
import time

_AHEAD_SECONDS = 0.02
lock = threading.Lock()
free_at = 0.0


def relay(source: socket.socket, target: socket.socket, *, rate: float | None) -> None:
    buffer = memoryview(bytearray(1 << 18))
    try:
        while count := source.recv_into(buffer):
            if rate is not None:
                wait(count / rate)
            target.sendall(buffer[:count])
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side has gone


def wait(seconds: float) -> None:
    """Until the line, which all connections share, has sent that too."""
    global free_at  # noqa: PLW0603 - there is one line
    with lock:
        free_at = max(free_at, time.monotonic() - _AHEAD_SECONDS) + seconds
        left = free_at - time.monotonic()
    if left > 0:
        time.sleep(left)


def main(to: int, rate: float) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", to))
        for source, target, limit in ((client, server, rate), (server, client, None)):
            threading.Thread(target=relay, args=(source, target), kwargs={"rate": limit}, daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
