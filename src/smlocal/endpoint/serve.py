"""`smlocal serve`: answers on a port until it is told to end."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from errno import EADDRINUSE, EADDRNOTAVAIL
from socket import gaierror, socket
from threading import Event

from smlocal.endpoint.application import Application
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.endpoint_key import ACCESS_KEY, SECRET_KEY, demanded, key_of_environment, key_of_home
from smlocal.endpoint.http_server import HttpServer, listen
from smlocal.endpoint.page.addresses import login_link
from smlocal.endpoint.sagemaker.request_folders import reopen
from smlocal.endpoint.serving import Options, Serving, open_serving
from smlocal.endpoint.signature import Signatures
from smlocal.errors.of_commands import PortUnusableError
from smlocal.jobs.submission.scheduler import InstanceLimit

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
    if demand.needed:  # the holder of the key is the owner
        options = replace(options, with_key=True, rights=replace(options.rights, allowed_buckets=None))
    with _listener(host, port) as listener, open_serving(listener, log=say, options=options) as serving:
        say(f"smlocal serves at {serving.address} {demand.why}")
        if options.limit is not None:
            say(_how_limited(options.limit))
        key = (chosen or key_of_home(serving.home)) if demand.needed else None
        for line in _how_to_use(serving, key, chosen=chosen is not None):
            say(line)
        reopen(serving)
        application = Application(serving, hosts=Hosts(allowed=options.hosts), signatures=key)
        with HttpServer(application, listener) as server:
            while not told.wait(_LONG):
                pass
            if server.failed is not None:
                raise server.failed


def _how_limited(limit: InstanceLimit) -> str:
    """Which jobs wait for the limit, and which do not."""
    others = "are refused" if limit.refuse else "wait"
    instances = f"{limit.instances:,} instance{'s' * (limit.instances != 1)}"
    return f"  above {instances} jobs of clients {others}; jobs of the command line start at once, and count too"


def _how_to_use(serving: Serving, key: Signatures | None, *, chosen: bool) -> Iterator[str]:
    """`chosen`: the owner's terminals have the key already, and it need not be shown."""
    if key is None:
        words = ("smlocal", "smlocal")  # clients want some
    elif chosen:
        words = (f'"${ACCESS_KEY}"', f'"${SECRET_KEY}"')
    else:
        words = (key.access_key, key.secret_key)
    yield "  boto3 and the AWS CLI, in another terminal:"
    yield (
        f"    export AWS_ACCESS_KEY_ID={words[0]} AWS_SECRET_ACCESS_KEY={words[1]} "
        f"AWS_DEFAULT_REGION={serving.region} AWS_ENDPOINT_URL={serving.address}"
    )
    yield "    aws sagemaker list-training-jobs"
    yield "  a program with a SageMaker SDK, which needs no server and no variables:"
    yield "    smlocal exec -- python train.py"
    yield "  a browser:" if key is None else "  a browser; the page is open to anyone with this link:"
    yield f"    {serving.address if key is None else login_link(serving.address, key)}"


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


# Which program has a port, as far as this machine tells.

_LISTENING = "0A"
"""The state of such a socket in the tables of the kernel."""


def port_owner(port: int) -> str | None:
    """`python (process 4242)`; None if it cannot be told, as for programs of other users."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    if not sockets:
        return None
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            for descriptor in os.listdir(f"/proc/{process}/fd"):
                with suppress(OSError):
                    if os.readlink(f"/proc/{process}/fd/{descriptor}") in sockets:
                        return f"{_name(process)} (process {process})"
    return None


def _listening(port: int) -> list[str]:
    """The inodes of sockets that listen on the port."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError), open(table, encoding="ascii") as lines:
            for line in lines:
                fields = line.split()
                if fields[3] == _LISTENING and fields[1].endswith(f":{port:04X}"):
                    found.append(fields[9])
    return found


def _name(process: str) -> str:
    with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().strip()
