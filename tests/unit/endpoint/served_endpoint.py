"""`smlocal serve` in a process of its own, and the home that it serves."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path

from tests.unit.report.conftest import BEGAN, StoredJob

from smlocal.jobs.logs.log_file import ENTRY
from smlocal.jobs.store.jobs import Store

HOSTS = tuple(f"algo-{number}" for number in range(1, 11))
_ANSWER_SECONDS = 120.0
_EVENTS = "text/event-stream"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(kw_only=True)
class Served:
    """A running server."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path
    home: Path

    def said(self) -> str:
        """The messages to its owner so far."""
        return self.log.read_text(errors="replace")

    def peak_mib(self) -> int:
        """The most memory that the process has had."""
        found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found is not None
        return int(found[1]) >> 10

    def send(self, raw: bytes, *, method: str = "POST") -> Answer | None:
        """Send the bytes of one request. None if the server has closed the connection without an answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=_ANSWER_SECONDS) as connection:
            with suppress(BrokenPipeError, ConnectionResetError):  # it was refused before all was sent
                connection.sendall(raw)
            answer = HTTPResponse(connection, method=method)
            try:
                answer.begin()
                headers = {name.lower(): value for name, value in answer.getheaders()}
                body = b"" if headers.get("content-type", "").startswith(_EVENTS) else answer.read()
            except ConnectionResetError:
                return None
            return Answer(status=answer.status, headers=headers, body=body)


def request(
    method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes = b"", *, length: bool = True
) -> bytes:
    """The bytes of a request on a connection of its own."""
    own = [(b"Connection", b"close")]
    if length:
        own.append((b"Content-Length", b"%d" % len(body)))
    lines = [method.encode() + b" " + target + b" HTTP/1.1", *(b"%s: %s" % each for each in [*headers, *own])]
    return b"\r\n".join([*lines, b"", body])


@contextmanager
def serve(folder: Path) -> Iterator[Served]:
    """Serve a home with a bucket, a running job and an ended one. No other ever starts: all instances are in use."""
    home = folder / "home"
    data = home / "buckets" / "bucket" / "data"
    data.mkdir(parents=True)
    for name in ("file", "other", "é", "a b"):
        (data / name).write_bytes(name.encode() * 100)
    (home / "buckets" / "empty").mkdir()
    log = folder / "log"
    with Store.open(str(home)) as store:
        ended = StoredJob(store=store, name="ended")
        ended.begin()
        ended.end(60.0, "AlgorithmError: exit code 1")
        running = StoredJob(store=store, name="running", hosts=HOSTS)
        lease = running.create()
        running.train()
        running.log("algo-1", b"line 1\nline \xff\n" * 50)
        (running.directory / "logs" / "algo-1.times").write_bytes(
            b"".join(ENTRY.pack(14 * number, BEGAN + number) for number in range(50))
        )
        serve = [sys.executable, "-m", "smlocal", "serve", "--port", "0", "--no-key"]
        command = [*serve, "--max-instances", str(len(HOSTS))]
        environment = {**os.environ, "SMLOCAL_HOME": str(home), "DOCKER_HOST": "unix:///nowhere"}
        with log.open("wb") as output, subprocess.Popen(command, stderr=output, env=environment) as process:
            try:
                yield Served(process=process, port=_port(process, log), log=log, home=home)
            finally:
                process.terminate()
                process.wait(60)
        lease.release()


def _port(process: "subprocess.Popen[bytes]", log: Path) -> int:
    while process.poll() is None:
        found = re.search(r"serves at http://127\.0\.0\.1:(\d+)", log.read_text())
        if found is not None:
            return int(found[1])
    raise AssertionError(log.read_text())
