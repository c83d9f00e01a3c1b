"""Runs the application with uvicorn on an open socket, until it is told to end."""

import socket
from typing import Any

import uvicorn

_LONGEST_HEAD = 64 << 10
_KEEP_ALIVE_SECONDS = 75


def make_server(application: Any) -> uvicorn.Server:
    """A server that has no log and no signal handlers of its own."""
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        http="h11",
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=2,
        server_header=False,
        proxy_headers=False,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; `OSError` if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio leaves small packets waiting: 40 ms for each answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener
