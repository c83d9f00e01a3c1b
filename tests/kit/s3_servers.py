"""Two real S3 servers for tests, because each is wrong where the other is right: moto for semantics, rclone for speed.

moto holds objects in memory and accepts any secret. rclone checks signatures and keeps objects as plain files, but
answers a ranged GET with 200, forgets folder markers and keys with `//`, and cannot hold `p` and `p/q` at once.
"""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Any, Protocol
from unittest import mock
from urllib.parse import quote

import pytest

from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.terms.rights import EVERYTHING

ACCESS_KEY = "smlocaltestkey"
SECRET_KEY = "smlocaltestsecret"
REGION = "eu-west-1"

_NUMBERS = itertools.count(1)
_STOP_SECONDS = 200.0

# The objects that moto held before it was killed are there again before its port opens, as on a server with a disk. Its
# own main lists the modules of all services for each request, to find out which one is meant: most of what it does.
_MOTO = """
import json, sys
from moto.moto_server.werkzeug_app import create_backend_app
from moto.s3.models import s3_backends
from moto.server import MotoRequestHandler
from werkzeug.serving import run_simple
port, held = sys.argv[1:]
backend = s3_backends["123456789012"]["aws"]
with open(held, encoding="utf-8") as file:
    for bucket, keys in json.load(file).items():
        backend.create_bucket(bucket, "eu-west-1")
        for key, path in keys.items():
            with open(path, "rb") as data:
                backend.put_object(bucket, key, data.read()).etag  # made now: two requests at once make it wrongly
MotoRequestHandler.log_request = lambda *_: None
apps = {name: create_backend_app(name) for name in ("s3", "sts")}
def app(environ, start):
    return apps["sts" if "/sts/" in environ.get("HTTP_AUTHORIZATION", "") else "s3"](environ, start)
run_simple("127.0.0.1", int(port), app, threaded=True, request_handler=MotoRequestHandler)
"""


ON_MOTO = pytest.mark.parametrize("s3", ["moto"], indirect=True)
"""For a test of what rclone's server cannot do; a comment says why."""


class S3Server(Protocol):
    """The common interface of both servers."""

    name: str
    process: subprocess.Popen[bytes] | None

    @property
    def environment(self) -> dict[str, str]:
        """The whole AWS configuration for users of this server."""
        ...

    def client(self) -> Any:
        """A boto3 client for seeding and looking."""
        ...

    def make_bucket(self, stem: str = "bucket") -> str:
        """A new bucket, with a unique name."""
        ...

    def put(self, bucket: str, key: str, data: bytes = b"") -> str:
        """Store an object; returns its ETag, quotes and all."""
        ...

    def kill(self) -> None:
        """End it as a crash does; connections break and new ones are refused."""
        ...

    def restart(self) -> None:
        """Start it again, on the same port and with what it held."""
        ...

    def forget(self) -> None:
        """Objects that were put so far may be missing after a restart."""
        ...

    def skip_on(self, name: str, why: str) -> None:
        """Skip the test on this server, which is known to be wrong here."""
        ...


class _Server:
    """A process on a port of its own, and the client for it."""

    name = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reserved = reserve_port()
        self.port = int(self._reserved.getsockname()[1])
        self.process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.url)

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(self.folder),
                    "TMPDIR": tempfile.gettempdir(),
                    "MOTO_S3_DEFAULT_MAX_KEYS": "100",
                },
                cwd=self.folder,
            )
        until = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()  # passes: it tries again
            except OSError:
                time.sleep(0.02)
            else:
                return
        pytest.fail(f"{self.name} does not start:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}")

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def close(self) -> None:
        self._end(signal.SIGTERM)
        self._reserved.close()

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None

    def restart(self) -> None:
        if self.process is None:
            self.start()

    def forget(self) -> None:
        """It costs nothing to keep it."""

    def client(self) -> Any:
        return self._client

    @cached_property
    def _client(self) -> Any:
        from botocore.config import Config
        from tests.kit.boto_sessions import boto_session

        return boto_session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION).client(
            "s3",
            endpoint_url=self.url,
            config=Config(
                s3={"addressing_style": "path"},
                max_pool_connections=32,
                # rclone does not know the trailers that carry a checksum nobody asked for.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def make_bucket(self, stem: str = "bucket") -> str:
        name = f"{stem}-{os.getpid()}-{next(_NUMBERS)}"
        self.client().create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
        return name

    def put(self, bucket: str, key: str, data: bytes = b"") -> str:
        return self._send("PUT", f"{self.url}/{quote(f'{bucket}/{key}', safe='/~')}", data)["ETag"]

    def _send(self, method: str, url: str, data: bytes) -> HTTPMessage:
        """The client does this too, in four times the time; some tests store thousands of objects."""
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        request = AWSRequest(method, url, data=data)
        S3SigV4Auth(Credentials(ACCESS_KEY, SECRET_KEY), "s3", REGION).add_auth(request)
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=_STOP_SECONDS)) as connection:
            connection.request(method, url.removeprefix(self.url), data, dict(request.headers))
            answer = connection.getresponse()
            said = answer.read()
        assert answer.status == HTTPStatus.OK, f"{method} {url}: {answer.status} {said!r}"
        return answer.headers

    def skip_on(self, name: str, why: str) -> None:
        if self.name == name:
            pytest.skip(f"{name}: {why}")


class Moto(_Server):
    """moto's server; what was put by `put` is there again after a restart. Its pages have 100 keys."""

    name = "moto"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._held: dict[str, dict[str, str]] = {}

    def command(self) -> list[str]:
        held = self.folder / "held.json"
        held.write_text(json.dumps(self._held), encoding="utf-8")
        return [sys.executable, "-c", _MOTO, str(self.port), str(held)]

    def forget(self) -> None:
        for keys in self._held.values():
            for path in keys.values():
                Path(path).unlink(missing_ok=True)
        self._held.clear()

    def make_bucket(self, stem: str = "bucket") -> str:
        name = super().make_bucket(stem)
        self._held[name] = {}
        return name

    def put(self, bucket: str, key: str, data: bytes = b"") -> str:
        path = self.folder / f"held-{next(_NUMBERS)}"
        path.write_bytes(data)
        self._held.setdefault(bucket, {})[key] = str(path)
        return super().put(bucket, key, data)


class Rclone(_Server):
    """rclone's server; its objects are the files in `data`."""

    name = "rclone"

    @property
    def data(self) -> Path:
        """The buckets, as folders: what is in one before the server first looks into it need not be uploaded."""
        return self.folder / "data"

    def command(self) -> list[str]:
        self.data.mkdir(exist_ok=True)
        return [
            str(Path(sys.executable).with_name("rclone")),
            *("--config", os.devnull, "serve", "s3", "--addr", f"127.0.0.1:{self.port}"),
            *("--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", str(self.data)),
        ]


class S3Servers:
    """The servers of one test session, each started when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers: dict[str, Moto | Rclone] = {}

    def __call__(self, name: str) -> Moto | Rclone:
        """This server, running."""
        if name not in self._servers:
            folder = self._folder / name
            folder.mkdir()
            self._servers[name] = Moto(folder) if name == "moto" else Rclone(folder)
        server = self._servers[name]
        server.restart()
        return server

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


def environment(url: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """An AWS configuration that takes nothing from the user who runs the tests."""
    return {
        "AWS_ENDPOINT_URL_S3": url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        **(extra or {}),
    }


def opened(given: Mapping[str, str], *, region: str = REGION, **options: Any) -> S3Client:
    """Our client with this AWS configuration and nothing of the environment's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with mock.patch.dict(os.environ, {**kept, **given}, clear=True):
        client = open_store(region, rights=EVERYTHING, **options)
        assert client._source.current.slow_client  # made later otherwise, when the environment is another
    return client


def reserve_port() -> socket.socket:
    """A free port until a server binds it that reuses addresses; it is given to nobody else."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved
