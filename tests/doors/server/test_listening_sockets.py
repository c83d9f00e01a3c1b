"""Every socket on which a server, a program of `exec` or a job of any kind listens, and one list of rules for all."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.doors.server.test_other_user import as_somebody_else
from tests.jobs.processing.conftest import Processing
from tests.jobs.transform.conftest import Transforms
from tests.jobs.tuning.conftest import Tuning
from tests.kit.life import Life

from smlocal.errors import JobUnknownError

_LISTENS = "0A"
"""The state of a socket in the kernel's table."""
_ACCEPTS = "00010000"
"""The flag of a Unix socket that listens."""
WAIT = "while [ ! -e /opt/ml/output/go ]; do sleep 0.05; done"
MOST_MEMORY = 300 << 20


@dataclass(frozen=True, kw_only=True)
class Listening:
    """One socket, and who has it."""

    process: int
    program: str
    address: tuple[str, int] | None = None
    path: str = ""


@dataclass(kw_only=True)
class Everything:
    """A server, a program of `exec`, and the jobs of one home."""

    life: Life
    programs: list[int]

    def processes(self) -> set[int]:
        """Their processes, those of the jobs' supervisors, and all that these have started."""
        found = {*self.programs, *(each.supervisor_pid for each in self.life.store.list() if each.supervisor_pid)}
        parents = {}
        for each in filter(str.isdecimal, os.listdir("/proc")):
            with suppress(OSError):
                parents[int(each)] = int(Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[1])
        while more := {each for each, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def memory(self) -> dict[int, int]:
        """The most bytes that each has had."""
        found = {}
        for process in self.processes():
            with suppress(OSError):
                peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
                found[process] = int(peak[1]) << 10 if peak else 0
        return found

    def listening(self) -> list[Listening]:
        """All sockets on which they listen."""
        return listening(self.processes())


def listening(processes: Collection[int]) -> list[Listening]:
    """The sockets of these processes."""
    tcp = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, address, _, state, *rest = line.split()
            if state == _LISTENS:
                number, _, port = address.partition(":")
                raw = bytes.fromhex(number)
                words = [raw[at : at + 4][::-1] for at in range(0, len(raw), 4)]
                family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
                tcp[rest[5]] = (socket.inet_ntop(family, b"".join(words)), int(port, 16))
    unix = {}
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split(maxsplit=7)
        if fields[3] == _ACCEPTS:
            unix[fields[6]] = fields[7] if len(fields) > 7 else ""
    found: dict[str, Listening] = {}
    for process in processes:
        with suppress(OSError):
            program = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            for descriptor in os.listdir(f"/proc/{process}/fd"):
                with suppress(OSError):
                    inode = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{process}/fd/{descriptor}"))
                    if inode and inode[1] in tcp:
                        found[inode[1]] = Listening(process=process, program=program, address=tcp[inode[1]])
                    elif inode and inode[1] in unix:
                        found[inode[1]] = Listening(process=process, program=program, path=unix[inode[1]])
    return list(found.values())


CALL = "X-Amz-Target: SageMaker.ListTrainingJobs\r\nContent-Length: 2\r\n\r\n{}"
GOOD = f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{CALL}"


def with_line(line: str) -> str:
    return GOOD.replace("\r\n", f"\r\n{line}\r\n", 1)


RULES: Mapping[str, str] = {
    "without the key": GOOD,
    "the page without the key": "GET /-/new HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "an invocation without the key": "POST /endpoints/sockets-served/invocations HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Length: 1\r\n\r\nx",
    "a name of somebody else": GOOD.replace("127.0.0.1", "evil.example"),
    "no name": GOOD.replace("Host: 127.0.0.1\r\n", ""),
    "a page of another site": with_line("Origin: http://evil.example"),
    "a form of another site": with_line("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate"),
    "two encodings": with_line("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    "an unknown encoding": with_line("Transfer-Encoding: xchunked"),
    "an encoding and a length": with_line("Transfer-Encoding: chunked"),
    "two lengths": with_line("Content-Length: 3"),
    "a list of lengths": GOOD.replace("Content-Length: 2", "Content-Length: 2, 2"),
    "a folded header": with_line("X: a\r\n b"),
    "a folded encoding": with_line("Transfer-Encoding:\r\n chunked").replace("Content-Length: 2", "X: 2"),
    "a line without its end": GOOD.replace("\r\n", "\n", 1),
    "lines without their ends": GOOD.replace("\r\n", "\n").replace("\n\n", "\n\r\n\r\n"),
    "chunks of HTTP/1.0": "POST / HTTP/1.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown version": GOOD.replace("HTTP/1.1", "HTTP/9.9"),
    "too many headers": with_line("\r\n".join(f"X-{number}: 1" for number in range(300))),
    "a long head": with_line(f"X: {'x' * 70_000}"),
    "not HTTP": "\x16\x03\x01\x02\x00\r\n\r\n",
    "a proxy": "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
}
"""What every address refuses: requests that would be answered elsewhere."""


PARTIAL = b"POST /endpoints/sockets-served/invocations HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6000000\r\n\r\n"


def status(address: tuple[str, int], request: str) -> str:
    """That of the answer; empty if the connection ends without one."""
    with socket.create_connection(address, timeout=200) as connection:
        got = b""
        with suppress(ConnectionError):
            connection.sendall(request.encode("latin-1"))
        with suppress(ConnectionError):
            while b"\r\n" not in got and (piece := connection.recv(1 << 16)):
                got += piece
    return got.decode("latin-1").partition("\r\n")[0].partition(" ")[2][:3]


@pytest.fixture
def everything(life: Life, image: Callable[[str], str]) -> Iterator[Everything]:
    """A server with a key, a program of `exec`, and a job of each kind, all at work."""
    life.environment.update(AWS_ACCESS_KEY_ID="AKIATEST", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="eu-west-1")
    made = Everything(life=life, programs=[])
    with ExitStack() as stack:
        for arguments in (("serve", "--port", "0", "--key"), ("exec", "--", sys.executable, "-c", "input()")):
            program = subprocess.Popen(
                [sys.executable, "-m", "smlocal", *arguments],
                cwd=life.folder,
                env=life.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.enter_context(program)
            stack.callback(program.terminate)
            made.programs.append(program.pid)
        (life.folder / "sockets-served.json").write_text(
            json.dumps({"PrimaryContainer": {"Image": image("serve")}, "Local": {"Serving": {"Key": True}}})
        )
        assert life("deploy", "sockets-served.json", "--name", "sockets-served").returncode == 0
        life.detach("sockets-trained", f"echo up; {WAIT}", flags=("--credentials", "inherit"))
        processing = Processing(life=life).job_file("sockets-processed", "while [ ! -e /go ]; do sleep 0.05; done")
        transforms = Transforms(life=life, image=image("transform"))
        transforms.data({"a.csv": "wait\n"})
        transform = transforms.job_file("sockets-transformed", variables={"ANSWER": "gate"})
        tuning = Tuning(life=life).file("sockets-tuned", f"echo loss=1; {WAIT}", parallel=1)
        for each in (processing, transform, tuning):
            done = life("run", "--detach", each)
            assert done.returncode == 0, done.stderr
        jobs = ("sockets-trained", "sockets-processed", "sockets-transformed", "sockets-tuned")
        life.until(lambda: all(life.job(each).phase == "Training" for each in jobs))
        life.until(
            lambda: any("loss=1" in life.log(each) for each in life.store.names() if each.startswith("sockets-tuned-"))
        )
        life.until(lambda: {*made.programs} <= {each.process for each in made.listening()})
        yield made
        for name in life.store.names():
            with suppress(JobUnknownError):
                life("rm", "--stop", name)


@pytest.mark.slow(20)
def test_every_socket_that_listens_follows_the_same_rules(everything: Everything) -> None:
    life, found = everything.life, everything.listening()
    addresses = {each.address: each.program for each in found if each.address is not None}
    assert len(addresses) == 4, found  # of the server, of `exec`, of the endpoint, and of the credentials
    assert {host for host, _ in addresses} == {"127.0.0.1", "169.254.170.2"}
    # Nobody else reaches a socket in the folder of a job. The other end of one without a folder is asked who it is.
    paths = [each.path for each in found if each.address is None]
    in_folders = (f"{life.home}/jobs/", "/proc/self/fd/")  # the second is a short form of such a path
    assert {path.startswith((*in_folders, "@smlocal-credentials-")) for path in paths} == {True}, paths
    assert (life.home / "jobs").stat().st_mode & 0o077 == 0
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(each, timeout=200)) for each in addresses]
        for connection in silent:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        answers = {
            (program, rule): status(address, request)
            for address, program in addresses.items()
            for rule, request in RULES.items()
        }
        assert {where: got for where, got in answers.items() if not got.startswith("4")} == {}
        for address in addresses:  # bodies that do not end
            for _ in range(200):
                client = stack.enter_context(socket.create_connection(address, timeout=200))
                client.setblocking(False)
                with suppress(OSError):
                    client.sendall(PARTIAL + b"x" * (1 << 20))
        for connection in silent:  # the end of the head has not come in time
            with suppress(ConnectionError):
                while connection.recv(1 << 16):
                    pass
        assert {process: size for process, size in everything.memory().items() if size > MOST_MEMORY} == {}
    # Another user of this machine, whose loopback it is too.
    ports = [port for host, port in addresses if host == "127.0.0.1"]
    others, _ = as_somebody_else([(port, RULES["an invocation without the key"]) for port in ports])
    assert [each.split(" ")[1][0] for each in others] == ["4"] * 3
    (life.folder / "body").write_text("still here")
    assert life("invoke", "sockets-served", "--body", "body").stdout == "still here"
