"""The program that answers at the address: a foreign one, an engine that drops us, one behind TLS."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smlocal.engine.client import Client
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.facts import Place
from smlocal.engine.http import Timeouts
from smlocal.engine.interface import Resource, ResourceKind
from smlocal.errors import EngineError, EngineLostError, EngineUnreachableError, PlaceRefusedError
from smlocal.terms.gpus import GpuDevices

PING = b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nServer: Docker/20.10.24 (linux)\r\nContent-Length: 2\r\n\r\nOK"
Serve = Callable[..., str]

ROOTS = pytest.mark.skipif(os.geteuid() != 0, reason="the engine of the test is this user's, and must be root's")


@pytest.fixture
def serve(short_folder: Path) -> Iterator[Serve]:
    """Answer each connection in turn with the next of these; then close the door."""
    threads: list[threading.Thread] = []
    requests: list[bytes] = []

    def start(*answers: bytes, seen: list[bytes] = requests) -> str:
        path = short_folder / f"{len(threads)}.sock"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(60)  # for whoever asks less than is answered here

        def work() -> None:
            with listener:
                for answer in answers:
                    with listener.accept()[0] as connection:
                        seen.append(connection.recv(65536))
                        if answer:
                            connection.sendall(answer)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return str(path)

    yield start
    for thread in threads:
        thread.join()


def at(path: str) -> EngineAddress:
    return EngineAddress(address=f"unix://{path}", path=path)


def answer(status: int, body: bytes) -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", "the connection was closed early"),
        (b"220 mail ready\r\n", "an answer begins with b'220 mail ready'"),
        (b"\x00\xff" * 100, "the connection was closed early"),
        (answer(200, b"<html>a web server</html>"), "status 200 without an API version"),
        (PING[:-30], "the connection was closed early"),
    ],
)
def test_something_else_answers(serve: Serve, sent: bytes, reason: str) -> None:
    with pytest.raises(EngineUnreachableError, match="no Docker engine answers at unix://") as caught:
        DockerEngine(at(serve(sent))).facts()
    assert caught.value.details[0].startswith(reason)


def test_what_accepts_but_never_answers_is_given_up(short_folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(short_folder / "mute.sock"))
        listener.listen()
        with pytest.raises(EngineUnreachableError) as caught:
            Client(at(str(short_folder / "mute.sock")), timeouts=Timeouts(lost=0.1)).greet()
    assert caught.value.details == ("no answer within 0.05 s",)


@ROOTS
@pytest.mark.linux("elsewhere an engine is in a virtual machine, and is asked for everything")
def test_an_engine_that_worked_and_drops_us_is_lost(serve: Serve) -> None:
    engine = DockerEngine(at(serve(PING, b"", answer(200, b"[")[:-1])))
    assert engine.facts().version == "20.10.24"
    with pytest.raises(EngineLostError, match="stopped answering"):
        engine.state("x")
    with pytest.raises(EngineLostError, match="closed early"):
        engine.state("x")


@ROOTS
@pytest.mark.linux("elsewhere an engine is in a virtual machine, and is asked for everything")
def test_an_engine_that_worked_and_is_gone_is_lost(serve: Serve) -> None:
    path = serve(PING)
    engine = DockerEngine(at(path))
    engine.facts()
    Path(path).unlink()
    with pytest.raises(EngineLostError, match="No such file"):
        engine.owned()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"message": "its own words"}', "its own words"),
        (b"plain words\n", "plain words"),
        (b"", "the engine answered with status 500"),
        (b"[1]", r"\[1\]"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_an_error_keeps_the_engines_words(serve: Serve, body: bytes, message: str) -> None:
    with pytest.raises(EngineError, match=f"^{message}$") as caught:
        DockerEngine(at(serve(PING, answer(500, body)))).start("x")
    assert caught.value.status == 500


def test_an_engine_that_is_ill_says_so(serve: Serve) -> None:
    ill = b'HTTP/1.1 500 X\r\nApi-Version: 1.41\r\nContent-Length: 18\r\n\r\n{"message": "ill"}'
    with pytest.raises(EngineError, match=r"^ill$"):
        DockerEngine(at(serve(ill))).facts()


@pytest.mark.parametrize(("own", "spoken"), [(b"1.41", b"/v1.41/"), (b"1.99", b"/v1.47/"), (b"new", b"/v1.47/")])
def test_the_api_is_spoken_in_a_version_both_know(serve: Serve, own: bytes, spoken: bytes) -> None:
    seen: list[bytes] = []
    path = serve(PING.replace(b"1.41", own), answer(204, b""), seen=seen)
    DockerEngine(at(path)).start("x")
    assert seen[0].startswith(b"GET /_ping HTTP/1.1\r\n")
    assert seen[1].startswith(b"POST " + spoken + b"containers/x/start HTTP/1.1\r\n")


@ROOTS
@pytest.mark.linux("elsewhere an engine is in a virtual machine, and is asked for everything")
def test_podman_of_this_machine_is_known_by_its_greeting(serve: Serve) -> None:
    facts = DockerEngine(at(serve(PING.replace(b"Docker/20.10.24", b"Libpod/4.3.1")))).facts()
    assert (facts.product, facts.version, facts.operating_system) == ("podman", "4.3.1", "linux")


def test_a_container_that_ends_while_podman_looks_at_it_is_looked_at_again(serve: Serve) -> None:
    ending = answer(500, b'{"message": "read /proc/30674/cgroup: no such process"}')
    ended = answer(200, b'{"State": {"Status": "exited", "ExitCode": 3}}')
    podman = PING.replace(b"Docker/", b"Libpod/")
    assert DockerEngine(at(serve(podman, ending, ending, ended))).state("c").exit_code == 3
    with pytest.raises(EngineError, match="no such process"):
        DockerEngine(at(serve(PING, ending))).state("c")
    with pytest.raises(EngineError, match="no such container"):
        DockerEngine(at(serve(podman, answer(404, b'{"message": "no such container"}')))).state("c")


def test_podmans_networks_are_listed_without_its_containers(serve: Serve) -> None:
    ping = PING.replace(b"Server: Docker/20.10.24", b"Libpod-Api-Version: 4.3.1\r\nServer: Libpod/4.3.1")
    listed = answer(200, b'[{"name": "podman", "id": "2f25", "subnets": [{"subnet": "10.88.0.0/16"}]}]')
    nothing, no_volumes, seen = answer(200, b"[]"), answer(200, b'{"Volumes": []}'), list[bytes]()
    engine = DockerEngine(at(serve(ping, listed, nothing, no_volumes, listed, seen=seen)))
    (network,) = engine.networks()
    assert (network.name, network.subnets, network.gateway, network.default) == ("podman", ("10.88.0.0/16",), "", True)
    assert [(each.kind, each.id) for each in engine.owned("j")] == [(ResourceKind.NETWORK, "2f25")]
    assert seen[1].startswith(b"GET /v4.3.1/libpod/networks/json HTTP/1.1")
    assert seen[4].startswith(b"GET /v4.3.1/libpod/networks/json?filters=")


def test_after_the_removal_of_podmans_network_nothing_is_asked(serve: Serve) -> None:
    seen = list[bytes]()
    ping = PING.replace(b"Docker/", b"Libpod/")
    DockerEngine(at(serve(ping, answer(204, b""), seen=seen))).remove(Resource(kind=ResourceKind.NETWORK, id="n"))
    assert [each.split(b" ", 1)[0] for each in seen] == [b"GET", b"DELETE"]


def test_podman_gives_a_running_container_no_time_to_end_when_it_is_removed(serve: Serve) -> None:
    seen = list[bytes]()
    ping = PING.replace(b"Server: Docker/20.10.24", b"Libpod-Api-Version: 5.8.6\r\nServer: Libpod/5.8.6")
    there, removed = answer(204, b""), answer(200, b'[{"Id": "c"}]')
    container = Resource(kind=ResourceKind.CONTAINER, id="c")
    DockerEngine(at(serve(ping, there, there, removed, seen=seen))).remove(container)
    assert seen[3].startswith(b"DELETE /v5.8.6/libpod/containers/c?force=1&volumes=1&timeout=0 HTTP/1.1")


@pytest.mark.parametrize(("version", "gpus"), [("5.4.2", ()), ("5.3.1", None), ("4.3.1", None)])
def test_a_podman_has_gpus_where_it_looks_for_cdi_devices(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, gpus: tuple[str, ...] | None
) -> None:
    (tmp_path / "nvidia.yaml").write_text("kind: nvidia.com/gpu\n")
    monkeypatch.setattr("smlocal.engine.podman._CDI_FOLDERS", (str(tmp_path),))
    podman = PING.replace(b"Docker/20.10.24", f"Libpod/{version}".encode())
    info = f'{{"ServerVersion": "{version}", "CDISpecDirs": null}}'.encode()
    engine = DockerEngine(at(serve(podman, answer(200, info))))
    assert engine.cdi_gpus() == gpus
    said = engine.probe("image", {}, devices=GpuDevices(ids=(), every=True))
    assert said is not None
    assert ("before 5.4" in said) is (gpus is None)


@ROOTS
@pytest.mark.linux("elsewhere an engine is in a virtual machine, and is asked for everything")
def test_an_engine_of_somebody_else_is_asked_for_everything(serve: Serve) -> None:
    version = b'{"Version": "4.3.1", "Arch": "arm64", "Os": "linux"}'
    info = b'{"Driver": "overlay", "SecurityOptions": ["name=seccomp", "name=rootless"]}'
    looked = b""  # who listens is seen without a word
    path = serve(PING.replace(b"Docker/", b"Libpod/"), looked, answer(200, version), answer(200, info))
    os.chown(path, 1, 1)
    facts = DockerEngine(at(path)).facts()
    assert facts.product == "podman"
    assert (facts.version, facts.architecture, facts.storage_driver, facts.rootless) == (
        "4.3.1",
        "arm64",
        "overlay",
        True,
    )


def test_the_start_of_podman_says_nothing_about_containers(serve: Serve) -> None:
    assert DockerEngine(at(serve(PING.replace(b"Docker/", b"Libpod/")))).began() == ""


def test_a_wait_that_ends_with_an_error_of_the_engine(serve: Serve) -> None:
    running = answer(200, b'{"State": {"Status": "running"}}')
    ended = answer(200, b'{"StatusCode": 125, "Error": {"Message": "lost track of it"}}')
    with pytest.raises(EngineError, match="lost track of it"):
        DockerEngine(at(serve(PING, running, ended))).wait("x")


def test_nothing_listens_on_the_network() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(EngineUnreachableError) as caught:
            Client(EngineAddress(address=f"tcp://127.0.0.1:{port}", host="127.0.0.1", port=port)).greet()
    assert caught.value.details == ("Connection refused",)


REFUSED = answer(403, b'{"message": "not here"}')


@pytest.mark.parametrize(
    ("answers", "asked", "version", "api"),
    [
        ((PING,), "GET /v1.41/version", "20.10.24", "v1.41"),
        (
            (PING.replace(b"200 OK", b"400 Too Old").replace(b"1.41", b"1.44"),),
            "GET /v1.41/version",
            "20.10.24",
            "v1.44",
        ),
        ((answer(200, b'{"Version": "25.0.8", "ApiVersion": "1.44"}'),), "GET /v1.41/version", "25.0.8", "v1.44"),
        ((REFUSED, PING), "GET /v1.41/containers/json?limit=1", "20.10.24", "v1.41"),
        ((REFUSED, answer(200, b"[]")), "GET /v1.41/containers/json?limit=1", "", "v1.41"),
    ],
    ids=["headers", "too old a version", "the document", "the second call", "no words of it"],
)
def test_in_a_place_the_first_call_has_a_version(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, answers: tuple[bytes, ...], asked: str, version: str, api: str
) -> None:
    monkeypatch.setattr("smlocal.engine.client.place_here", lambda: Place(app="JupyterLab"))
    seen: list[bytes] = []
    engine = DockerEngine(at(serve(*answers, answer(204, b""), REFUSED, seen=seen)))
    facts = engine.facts()
    assert (facts.version, facts.product, facts.place) == (version, "docker", Place(app="JupyterLab"))
    assert seen[-1].decode().startswith(f"{asked} HTTP")
    engine.start("x")
    with pytest.raises(
        PlaceRefusedError, match="SageMaker Studio refuses POST /containers/y/start: not here"
    ) as caught:
        engine.start("y")
    assert (caught.value.status, caught.value.exit_code) == (403, 1)
    assert seen[-1].decode().startswith(f"POST /{api}/containers/y/start HTTP")


def test_in_a_place_something_else_answers(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smlocal.engine.client.place_here", lambda: Place(app="JupyterLab"))
    page = answer(200, b"<html>a web server</html>")
    with pytest.raises(EngineUnreachableError) as caught:
        Client(at(serve(page, page))).greet()
    assert caught.value.details[0].startswith("status 200 without an API version")
