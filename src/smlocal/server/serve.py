"""`smlocal serve`: answers on a port until it is told to end."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from errno import EADDRINUSE, EADDRNOTAVAIL
from socket import gaierror, socket
from threading import Event

from smlocal.errors.serving import PortUnusableError
from smlocal.server.application import Application
from smlocal.server.endpoint_key import demanded, key_of_environment, key_of_home
from smlocal.server.hosts import Hosts
from smlocal.server.http_server import HttpServer, listen
from smlocal.server.page.page_key import login_link
from smlocal.server.port_owner import port_owner
from smlocal.server.sagemaker.container_objects import reopen
from smlocal.server.serving import Options, open_serving

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LONG = 3600.0


def serve(*, host: str, port: int, demand_key: bool | None, options: Options, say: Callable[[str], None]) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. `say` is called with messages for the person who started it.

    `demand_key`: None if that depends on who reaches the server.
    """
    told = Event()
    for each in _SIGNALS:
        signal.signal(each, lambda *_: told.set())
    chosen = key_of_environment(os.environ)
    demand = demanded(host, chosen=chosen, asked=demand_key)
    if demand.needed:  # whoever has the key is the owner
        options = replace(options, rights=replace(options.rights, allowed_buckets=None))
    with _listener(host, port) as listener, open_serving(listener, log=say, options=options) as serving:
        say(f"smlocal serves at {serving.address} {demand.why}")
        key = None
        if demand.needed:
            key = chosen or key_of_home(serving.home)
            if chosen is None:
                say(f"  export AWS_ACCESS_KEY_ID={key.access_key} AWS_SECRET_ACCESS_KEY={key.secret_key}")
            say(f"The page is open to who has this link: {login_link(serving.address, key)}")
        reopen(serving)
        application = Application(serving, hosts=Hosts(allowed=options.hosts), signatures=key)
        with HttpServer(application, listener) as server:
            while not told.wait(_LONG):
                pass
            if server.failed is not None:
                raise server.failed


def _listener(host: str, port: int) -> socket:
    try:
        return listen(host, port)
    except OSError as error:
        owner = port_owner(port) if error.errno == EADDRINUSE else None
        why = f"{owner} has it" if owner else (error.strerror or str(error))
        not_ours = isinstance(error, gaierror) or error.errno == EADDRNOTAVAIL
        remedy = (
            "Give an address of this machine." if not_ours else "Choose another port, or any free one with --port 0."
        )
        raise PortUnusableError(f"cannot listen on {host} port {port}: {why}", remedy=[remedy]) from error
