"""A network of so many bytes a second to a port of this machine."""

import socket
import sys
import threading
import time
from contextlib import suppress

to, rate = int(sys.argv[1]), float(sys.argv[2])
lock = threading.Lock()
free_at = [0.0]


def wait_for(count: int) -> None:
    with lock:
        free_at[0] = max(free_at[0], time.monotonic() - 0.02) + count / rate
        wait = free_at[0] - time.monotonic()
    if wait > 0:
        time.sleep(wait)


def relay(source: socket.socket, target: socket.socket, paced: bool) -> None:  # noqa: FBT001 - a thread calls it
    buffer = memoryview(bytearray(1 << 18))
    with suppress(OSError):
        while count := source.recv_into(buffer):
            if paced:
                wait_for(count)
            target.sendall(buffer[:count])
        target.shutdown(socket.SHUT_WR)


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", to))
    threading.Thread(target=relay, args=(client, server, True), daemon=True).start()
    threading.Thread(target=relay, args=(server, client, False), daemon=True).start()
