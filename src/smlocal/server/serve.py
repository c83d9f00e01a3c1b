"""`smlocal serve`: opens the store and the port, and serves until a signal."""

from collections.abc import Callable

from smlocal.contract.identity import DEFAULT_ACCOUNT, DEFAULT_REGION
from smlocal.server.application import Application
from smlocal.server.hosts import Hosts
from smlocal.server.http_server import listen, make_server
from smlocal.server.serving import Serving
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store


def serve(*, host: str, port: int, say: Callable[[str], None]) -> int:
    """Serve until SIGINT or SIGTERM. `say` is called with messages for the person who started it."""
    listener = listen(host, port)
    with listener, Store.open(home_directory()) as store:
        shown, number = listener.getsockname()[:2]
        serving = Serving(
            store=store,
            buckets=f"{store.home}/buckets",
            account=DEFAULT_ACCOUNT,
            region=DEFAULT_REGION,
            address=f"http://{shown}:{number}",
            log=say,
        )
        say(f"smlocal serves on {serving.address}")
        make_server(Application(serving, hosts=Hosts(), signatures=None)).run(sockets=[listener])
    return 0
