"""A second port for S3 alone, on the address that the engine's containers have for this machine."""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from threading import Lock
from typing import Any

from smlocal.endpoint.endpoint_key import key_of_home
from smlocal.endpoint.http_server import HttpServer, listen
from smlocal.endpoint.signature import Signatures
from smlocal.engine.docker import connect
from smlocal.errors import SmlocalError
from smlocal.jobs.planning.aspects.network.look import default_gateway

_KEY = "container-key.json"
_ADDRESS = "container-port.json"
MakeApplication = Callable[[Signatures], Any]
"""The application that answers what is signed with a key."""


class ContainerPort:
    """Closed until a job needs it. The key is of the home, and containers of such jobs get it."""

    def __init__(self, home: str, *, log: Callable[[str], None]) -> None:
        """Nothing is opened yet."""
        self._home = home
        self._log = log
        self._lock = Lock()
        self._open_now = ExitStack()
        self._url: str | None = None
        self._impossible = False

    def url(self, application: MakeApplication) -> str | None:
        """The address with the key, as containers reach it; None if they cannot. It is opened with the first call."""
        with self._lock:
            if self._url is None and not self._impossible:
                try:
                    address = _gateway()
                except SmlocalError as error:  # no engine now; the job says so when it begins
                    self._log(f"S3 for containers: {error.sentence}")
                    return None
                self._impossible = address is None
                if address is None:
                    self._log("S3 for containers: this engine gives them no address of this machine")
                else:
                    self._open(address, self._last_port(address), application) or self._open(address, 0, application)
            return self._url

    def reopen(self, application: MakeApplication) -> None:
        """Open what the last server of this home had: there are jobs that know its address."""
        with self._lock, suppress(FileNotFoundError), open(self._path(), encoding="utf-8") as file:
            last = json.load(file)
            if not self._open(last["Address"], last["Port"], application):
                self._log("S3 for containers: jobs that run since an earlier server have lost it")

    def close(self) -> None:
        """Containers that still run find nothing there any more."""
        with self._lock:
            self._open_now.close()
            self._url = None

    def _open(self, address: str, port: int, application: MakeApplication) -> bool:
        """False if the port is another program's."""
        try:
            listener = listen(address, port)
        except OSError as error:
            self._log(f"S3 for containers: cannot listen on {address} port {port}: {error.strerror}")
            return False
        key = key_of_home(self._home, _KEY)
        self._open_now.enter_context(listener)
        self._open_now.enter_context(HttpServer(application(key), listener))
        port = listener.getsockname()[1]
        with open(self._path(), "w", encoding="utf-8") as file:
            json.dump({"Address": address, "Port": port}, file)
        self._url = f"http://{key.access_key}:{key.secret_key}@{address}:{port}"
        return True

    def _last_port(self, address: str) -> int:
        """The port of the last server, so that jobs that run since then find this one; else any."""
        with suppress(FileNotFoundError), open(self._path(), encoding="utf-8") as file:
            last = json.load(file)
            if last["Address"] == address:
                return int(last["Port"])
        return 0

    def _path(self) -> str:
        return os.path.join(self._home, _ADDRESS)


def _gateway() -> str | None:
    """This machine's address on the engine's default network."""
    engine = connect()
    facts = engine.facts()
    if facts.rootless or facts.desktop or not facts.local:
        return None
    return default_gateway(engine.networks()) or None
