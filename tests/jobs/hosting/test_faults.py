"""Bad models, requests and answers, and what is lost while an endpoint runs: what is said, and that nothing is left."""

import http.client
import io
import json
import socket
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

Clean = Callable[[str], None]
NOT_HEALTHY = "did not pass the ping health check"
MEBIBYTE = 1 << 20


@contextmanager
def connected(address: str) -> Iterator[tuple[http.client.HTTPConnection, str]]:
    """A connection to an endpoint, and its path."""
    where = urlsplit(address)
    with closing(http.client.HTTPConnection(where.hostname or "", where.port, timeout=200)) as connection:
        yield connection, where.path


def member(name: str, content: bytes = b"", **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in more.items():
        setattr(info, key, value)
    return info, content


def packed(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as file:
        for info, content in members:
            file.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.slow(3)
def test_a_server_that_accepts_and_says_nothing_fails(hosting: Any, assert_nothing_left: Clean) -> None:
    done = hosting.deploy("says-nothing", variables={"PING": "mute"}, limits={"StartupSeconds": 2, "PingSeconds": 1})
    assert done.returncode == 1
    described = hosting.described("says-nothing")
    assert NOT_HEALTHY in described["FailureReason"]
    assert "no answer to /ping within 1 s" in described["Local"]["Explanation"]
    assert_nothing_left("says-nothing")


@pytest.mark.slow(2)
def test_a_server_that_loads_for_longer_than_it_may_fails(hosting: Any, assert_nothing_left: Clean) -> None:
    done = hosting.deploy("loads-long", variables={"PING": "late:300"}, limits={"StartupSeconds": 2}, grace=5)
    assert done.returncode == 1
    described = hosting.described("loads-long")
    assert NOT_HEALTHY in described["FailureReason"]
    assert "/ping answered 500, for 2 s" in described["Local"]["Explanation"]
    assert_nothing_left("loads-long")


@pytest.mark.slow(3)
def test_a_server_that_forks_away_from_pid_1_ends_with_it(hosting: Any, assert_nothing_left: Clean) -> None:
    done = hosting.deploy("forks-away", variables={"DIES": "forks"})
    assert done.returncode == 1
    described = hosting.described("forks-away")
    assert NOT_HEALTHY in described["FailureReason"]
    assert "with exit code 0" in described["Local"]["Explanation"]
    assert_nothing_left("forks-away")


@pytest.mark.slow(6)
def test_a_gibibyte_passes_without_being_kept(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    address = hosting.in_service("sends-much", variables={"ANSWER": "huge:1024"})
    with connected(address) as (connection, path):
        connection.request("POST", path, body=b"")
        answer, size = connection.getresponse(), 0
        while piece := answer.read(4 * MEBIBYTE):
            size += len(piece)
    assert size == 1024 * MEBIBYTE
    assert memory_peak(life.job("sends-much").supervisor_pid) < 150 * MEBIBYTE
    life("rm", "--stop", "sends-much")
    assert_nothing_left("sends-much")


@pytest.mark.slow(3)
def test_a_client_that_leaves_or_does_not_read_holds_up_nobody(
    hosting: Any, life: Any, assert_nothing_left: Clean
) -> None:
    address = hosting.in_service("not-read", variables={"ANSWER": "huge:256"})
    where = urlsplit(address)
    request = f"POST {where.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".encode()
    with socket.create_connection((where.hostname, where.port), timeout=200) as slow:
        slow.sendall(request)
        assert slow.recv(100).startswith(b"HTTP/1.1 200")
        for _ in range(3):
            with socket.create_connection((where.hostname, where.port), timeout=200) as leaves:
                leaves.sendall(request)
                assert leaves.recv(100)
        with connected(address) as (connection, path):
            connection.request("POST", path, body=b"")
            assert len(connection.getresponse().read()) == 256 * MEBIBYTE
        assert memory_peak(life.job("not-read").supervisor_pid) < 150 * MEBIBYTE
    life("rm", "--stop", "not-read")
    assert_nothing_left("not-read")


def memory_peak(process: int) -> int:
    """Bytes that it has held at once."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        ("dots", member("../outside", b"x")),
        ("deep-dots", member("a/../../outside", b"x")),
        ("link", member("out", type=tarfile.SYMTYPE, linkname="/etc")),
        ("hard-link", member("out", type=tarfile.LNKTYPE, linkname="../../outside")),
        ("device", member("zero", type=tarfile.CHRTYPE, devmajor=1, devminor=5)),
    ],
)
def test_an_archive_that_leads_out_is_refused(
    hosting: Any, life: Any, assert_nothing_left: Clean, kind: str, bad: Any
) -> None:
    name = f"archive-{kind}"
    path = packed(life.folder / "m.tar.gz", member("weights", b"1"), bad)
    done = life("deploy", path, "--image", hosting.image, "--name", name)
    assert done.returncode == 1
    assert life.job(name).failure_reason.startswith("Failed to extract model data archive for container")
    assert "the archive cannot be unpacked: " in hosting.described(name)["Local"]["Explanation"]
    assert_nothing_left(name)
    assert not list(life.home.rglob("outside"))
    assert not list(life.home.rglob("weights"))


@pytest.mark.parametrize("part", [0.2, 0.9])
def test_an_archive_that_is_cut_short_is_refused(
    hosting: Any, life: Any, assert_nothing_left: Clean, part: float
) -> None:
    name = f"archive-cut-{part:.0%}".replace("%", "")
    whole = packed(life.folder / "whole.tar.gz", member("weights", bytes(range(256)) * 4096)).read_bytes()
    (life.folder / "m.tar.gz").write_bytes(whole[: int(len(whole) * part)])
    done = life("deploy", life.folder / "m.tar.gz", "--image", hosting.image, "--name", name)
    assert done.returncode == 1
    assert life.job(name).failure_reason.startswith("Failed to extract model data archive for container")
    assert_nothing_left(name)


@pytest.mark.slow(2)
def test_an_absolute_path_of_an_archive_is_below_the_model(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    path = packed(life.folder / "m.tar.gz", member("/etc/weights", b"1"))
    flags = ("--image", hosting.image, "-e", "ANSWER=model", "--quiet")
    assert life("deploy", path, "--name", "archive-absolute", *flags).returncode == 0
    assert json.loads(hosting.invoke("archive-absolute").stdout) == {"/opt/ml/model/etc/weights": "1"}
    assert life("rm", "--stop", "archive-absolute").returncode == 0
    assert_nothing_left("archive-absolute")


@pytest.mark.slow(6)
def test_a_stop_does_not_wait_for_an_archive_of_many_files(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    path = life.folder / "m.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as file:
        for number in range(40_000):
            file.addfile(tarfile.TarInfo(f"{number % 100}/{number}"))
    command = life.begin("deploy", path, "--image", hosting.image, "--name", "archive-many")
    life.commands.append(command)
    models = life.home / "jobs" / "archive-many"
    hosting.until(lambda: any(models.rglob("*/0")))
    assert life("stop", "archive-many", "--wait").returncode == 0
    assert hosting.listed() == {"archive-many": "Stopped"}
    assert_nothing_left("archive-many")
    assert not any(models.rglob("*/0"))


@pytest.mark.slow(3)
def test_bodies_that_are_much_too_large_are_refused(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    address = hosting.in_service("too-much", variables={"ANSWER": "json"})
    with connected(address) as (connection, path):
        connection.request("POST", path, body=bytes(100 * MEBIBYTE))
        answer = connection.getresponse()
        assert answer.status == 413
        said = json.loads(answer.read())["Message"]
        assert said == f"Request {100 * MEBIBYTE} has exceeded the upper limit of 26214400 bytes."
    (life.folder / "large").write_bytes(bytes(100 * MEBIBYTE))
    done = life("invoke", "too-much", "--body", "large")
    assert (done.returncode, "has exceeded the upper limit" in " ".join(done.stderr.split())) == (1, True), done.stderr
    assert json.loads(hosting.invoke("too-much", "small").stdout)["body"] == "small"
    life("rm", "--stop", "too-much")
    assert_nothing_left("too-much")


@pytest.mark.slow(3)
def test_no_header_is_smuggled_to_the_container(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    address = hosting.in_service("injected", variables={"ANSWER": "json"})
    where = urlsplit(address)
    attributes = "X-Amzn-SageMaker-Custom-Attributes"
    for bad in (b"a\nX-Evil: 1", b"a\rX-Evil: 1", b"a\r\n X-Evil: 1", b"a\0X-Evil: 1", b"\xc4\x8dX-Evil", b"a" * 1025):
        head = (
            f"POST {where.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n{attributes}: ".encode()
            + bad
            + b"\r\n\r\n"
        )
        with socket.create_connection((where.hostname, where.port), timeout=200) as raw:
            raw.sendall(head)
            assert raw.recv(4096).startswith(b"HTTP/1.1 400 "), bad
    with connected(address) as (connection, path):
        connection.request("POST", path, body=b"", headers={attributes: "trace=1", "X-Evil": "1"})
        seen = json.loads(connection.getresponse().read())["headers"]
    assert seen[attributes.lower()] == "trace=1"
    assert "x-evil" not in seen
    for bad_flag in ("a\nX-Evil: 1", "a\r\nX-Evil: 1"):
        done = hosting.invoke("injected", "x", "--custom-attributes", bad_flag)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
    life("rm", "--stop", "injected")
    assert_nothing_left("injected")


@pytest.mark.slow(4)
def test_of_two_deploys_of_one_name_one_is_made(
    hosting: Any, life: Any, docker: Any, assert_nothing_left: Clean
) -> None:
    hosting.archive()
    path = hosting.model_file("deployed-twice")
    both = [life.begin("deploy", path, "--name", "deployed-twice") for _ in range(2)]
    said = [each.communicate(timeout=240) for each in both]
    assert sorted(each.returncode for each in both) == [0, 2], said
    (refused,) = (errors for each, (_, errors) in zip(both, said, strict=True) if each.returncode)
    assert "already exists" in refused
    assert len(docker("ps", "--quiet", "--filter", "label=smlocal.job=deployed-twice").split()) == 1
    assert hosting.invoke("deployed-twice", "x").stdout == "x"
    life("rm", "--stop", "deployed-twice")
    assert_nothing_left("deployed-twice")


@pytest.mark.slow(4)
def test_an_endpoint_ends_when_the_connection_to_the_engine_is_cut(
    hosting: Any, relayed: Any, relay: Any, assert_nothing_left: Clean
) -> None:
    hosting.in_service("engine-cut")
    relay.cut("/wait")
    hosting.until(lambda: relayed.job("engine-cut").status.terminal)
    assert hosting.listed() == {"engine-cut": "Failed"}
    assert "the connection to the engine was lost" in hosting.described("engine-cut")["Local"]["Explanation"]
    assert_nothing_left("engine-cut")  # the engine was there all the time
    refused = hosting.invoke("engine-cut")
    assert (refused.returncode, "[endpoint-not-in-service]" in refused.stderr) == (1, True), refused.stderr


@pytest.mark.slow(3)
def test_a_stop_goes_on_after_its_supervisor_was_killed(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("stops-late", variables={"ON_TERM": "ignore"}, grace=2)
    life.ask_to_stop("stops-late")
    hosting.until(lambda: life.job("stops-late").status == "Stopping")
    life.crash("stops-late")
    assert life("stop", "stops-late", "--wait").returncode == 0
    assert hosting.listed() == {"stops-late": "Stopped"}
    assert_nothing_left("stops-late")


@pytest.mark.slow(4)
def test_a_restart_goes_on_after_its_supervisor_was_killed(
    hosting: Any, life: Any, docker: Any, assert_nothing_left: Clean
) -> None:
    hosting.in_service("restarts-late")
    docker("kill", *docker("ps", "--quiet", "--filter", "label=smlocal.job=restarts-late").split())
    life.crash("restarts-late")
    hosting.until(lambda: hosting.invoke("restarts-late", "again").stdout == "again")
    assert len(docker("ps", "--quiet", "--filter", "label=smlocal.job=restarts-late").split()) == 1
    assert life("rm", "--stop", "restarts-late").returncode == 0
    assert_nothing_left("restarts-late")
