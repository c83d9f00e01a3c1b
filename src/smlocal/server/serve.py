"""`smlocal serve`: answers on a port until it is told to end."""

import signal
from collections.abc import Awaitable, Callable
from threading import Event

from smlocal.server.application import Application
from smlocal.server.hosts import Hosts
from smlocal.server.http_server import HttpServer, listen
from smlocal.server.serving import open_serving
from smlocal.server.signature import Signatures

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(*, host: str, port: int, signatures: Signatures | None, hosts: Hosts, say: Callable[[str], None]) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. `say` is called with messages for the person who started it."""
    told = Event()
    for each in _SIGNALS:
        signal.signal(each, lambda *_: told.set())
    with listen(host, port) as listener, open_serving(listener, log=say) as serving:
        say(f"smlocal serves at {serving.address}")
        application = Application(serving, hosts=hosts, signatures=signatures)
        with HttpServer(application, listener, beside=_nothing) as server:
            while not told.wait(3600):
                pass
            if server.failed is not None:
                raise server.failed


async def _nothing() -> None:
    return None


Beside = Callable[[], Awaitable[None]]
