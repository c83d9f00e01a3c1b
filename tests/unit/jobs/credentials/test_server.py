"""On the loopback address, where no engine is needed."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from queue import Queue
from threading import Thread

import pytest

from smlocal.data.sources.s3.aws_session import Credentials
from smlocal.errors import CredentialsUnreachableError
from smlocal.jobs.credentials import listener as listener_module
from smlocal.jobs.credentials import server as server_module
from smlocal.jobs.credentials.listener import (
    Listener,
    Secret,
    hand_over,
    is_reached,
    listen_for_handovers,
    open_listener,
    receive,
)
from smlocal.jobs.credentials.server import CredentialServer, RenewedKeys

SECRET = Secret(path="/v2/credentials/proxy-unit-customer", token="token")
KEYS = Credentials(access_key="AKIA", secret_key="hidden")
Serve = Callable[..., int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves, and returns the port."""
    servers = []

    def begin(find: Callable[[], Credentials] = lambda: KEYS, *, ours: bool = True) -> int:
        bound = socket.create_server(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        server = CredentialServer(
            listener=Listener(socket=bound, port=port),
            secret=SECRET,
            keys=RenewedKeys(fetch=find),
            role_arn="arn:role",
            is_ours=lambda _: ours,
            make_address=lambda: None,
            died=lambda thread, error: pytest.fail(f"{thread}: {error!r}"),
        )
        server.begin()
        servers.append(server)
        return port

    yield begin
    for server in servers:
        server.close()


def ask(
    port: int, path: str = SECRET.path, *, method: str = "GET", token: str = "token"
) -> tuple[int, dict[str, object]]:
    with socket.create_connection(("127.0.0.1", port), timeout=200) as client:
        client.sendall(f"{method} {path} HTTP/1.1\r\nAuthor".encode())
        client.sendall(f"ization: {token}\r\n\r\n".encode())
        return read(client)


def read(client: socket.socket) -> tuple[int, dict[str, object]]:
    with client.makefile("rb") as answer:
        head, _, body = answer.read().partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_whoever_knows_path_and_token_gets_them(serve: Serve) -> None:
    status, document = ask(serve())
    assert (status, document["AccessKeyId"], document["RoleArn"]) == (200, "AKIA", "arn:role")


@pytest.mark.parametrize("path", ["/", "/v2/credentials/proxy-unit-custome", "/v2/credentials/x"])
def test_nobody_else_does(serve: Serve, path: str) -> None:
    assert ask(serve(), path)[0] == 404
    assert ask(serve(), token="other")[0] == 404
    assert ask(serve(ours=False))[0] == 404
    assert ask(serve(), method="PUT")[0] == 400


def test_many_at_once_and_some_who_never_say_anything(serve: Serve) -> None:
    port = serve()
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    talking = [socket.create_connection(("127.0.0.1", port), timeout=200) for _ in range(20)]
    for client in talking:
        client.sendall(f"GET {SECRET.path} HTTP/1.1\r\nAuthorization: token\r\n\r\n".encode())
    assert {read(client)[0] for client in talking} == {200}
    for client in (*silent, *talking):
        client.close()


def test_a_request_without_end(serve: Serve) -> None:
    with socket.create_connection(("127.0.0.1", serve()), timeout=200) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"x" * 8176)
        assert client.recv(100).startswith(b"HTTP/1.1 400")


def test_expired_ones_are_not_given(serve: Serve) -> None:
    old = Credentials(access_key="AKIA", secret_key="hidden", expires=time.time() - 1)
    status, document = ask(serve(lambda: old))
    assert (status, document["code"], document["HTTPErrorCode"]) == (500, "InternalServerError", 500)
    assert "hidden" not in json.dumps(document)


@pytest.mark.linux("sockets without a file, which jobs that share a port need")
def test_a_connection_is_handed_over_with_what_was_read_of_it() -> None:
    path = "/v2/credentials/proxy-unit-other-customer"
    with listen_for_handovers(path) as handovers, socket.create_server(("127.0.0.1", 0)) as here:
        client = socket.create_connection(here.getsockname())
        came, _ = here.accept()
        assert hand_over(path, came, b"GET it")
        came.close()
        taken = receive(handovers)
        assert taken is not None
        with taken[0], client:
            assert taken[1] == b"GET it"
            taken[0].sendall(b"for you")
            assert client.recv(100) == b"for you"
            assert not hand_over("/v2/credentials/proxy-nobody-customer", taken[0], b"GET it")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener_module, "ADDRESS", "127.0.0.1")


def a_server(port: int | None) -> CredentialServer:
    find = lambda: KEYS  # noqa: E731  a function of its own would say no more
    return CredentialServer.open(
        port,
        make_address=lambda: None,
        secret=SECRET,
        keys=RenewedKeys(fetch=find),
        role_arn="",
        is_ours=lambda _: True,
        died=lambda thread, error: pytest.fail(f"{thread}: {error!r}"),
    )


@pytest.mark.slow(0.5)
def test_a_thread_that_dies_is_told() -> None:
    def forget() -> Credentials:
        raise KeyError("Expiration")

    told: Queue[tuple[str, BaseException]] = Queue()
    server = CredentialServer(
        listener=Listener(socket=socket.create_server(("127.0.0.1", 0)), port=0),
        secret=SECRET,
        keys=RenewedKeys(fetch=forget),
        role_arn="",
        is_ours=lambda _: True,
        make_address=lambda: None,
        died=lambda thread, error: told.put((thread, error)),
    )
    server.begin()
    thread, error = told.get(timeout=200)
    server.close()
    assert thread == "credentials-renewal"
    assert isinstance(error, KeyError)


@pytest.mark.usefixtures("here")
def test_a_port_that_another_program_has(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(listener_module, "PORT", port)
        monkeypatch.setattr(server_module, "PORT", port)
        server = a_server(None)
        assert server.listener.port != port
        assert ask(server.listener.port)[0] == 200
        again = server.listener.port
        with pytest.raises(CredentialsUnreachableError):
            a_server(port)
        server.close()
        # A supervisor that comes after a crash has the port that the containers know.
        server = a_server(again)
        assert ask(again)[0] == 200
        server.close()


@pytest.mark.usefixtures("here")
def test_an_address_that_is_led_to_another_program() -> None:
    """As the agent of Amazon ECS does it with the address and port 80."""
    with socket.create_server(("127.0.0.1", 0)) as theirs:

        def answer() -> None:
            client, _ = theirs.accept()
            with client:
                client.recv(4096)
                client.sendall(b"HTTP/1.1 404 Not Found\r\nServer: agent\r\n\r\n")

        Thread(target=answer, daemon=True).start()
        assert not is_reached(Listener(socket=theirs, port=theirs.getsockname()[1]))


@pytest.mark.usefixtures("here")
@pytest.mark.linux("sockets without a file, which jobs that share a port need")
def test_jobs_share_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for module in (listener_module, server_module):
        monkeypatch.setattr(module, "PORT", port)
    names = [f"AKIA{number}" for number in range(3)]
    servers = [
        CredentialServer.open(
            None,
            make_address=lambda: None,
            secret=Secret(path=f"/{name}"),
            keys=RenewedKeys(fetch=lambda name=name: Credentials(access_key=name, secret_key="x")),  # type: ignore[misc]  # mypy does not infer it
            role_arn="",
            is_ours=lambda _: True,
            died=lambda thread, error: pytest.fail(f"{thread}: {error!r}"),
        )
        for name in names
    ]
    for _ in range(10):
        for name in names:
            status, document = ask(port, f"/{name}")
            assert (status, document.get("AccessKeyId")) == (200, name)
    assert ask(port, "/AKIA")[0] == 404
    servers.pop().close()
    for _ in range(10):
        assert ask(port, "/AKIA0")[0] == 200
        assert ask(port, "/AKIA2")[0] == 404
    for server in servers:
        server.close()


def test_an_address_that_this_machine_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener_module, "ADDRESS", "198.51.100.2")
    monkeypatch.setattr(listener_module, "_ADDRESS_SECONDS", 0.05)
    asked = []
    with pytest.raises(CredentialsUnreachableError) as caught:
        open_listener(listener_module.PORT, lambda: asked.append(1))
    assert asked
    assert caught.value.details == ("Cannot assign requested address",)


def test_containers_that_share_the_addresses_of_this_process_ask_at_the_loopback_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else of this machine is needed: no address is made, and port 80 is not tried."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for module in (listener_module, server_module):
            monkeypatch.setattr(module, "PORT", taken.getsockname()[1])
        server = CredentialServer.open(
            None,
            loopback=True,
            make_address=lambda: pytest.fail("an address was made"),
            secret=SECRET,
            keys=RenewedKeys(fetch=lambda: KEYS),
            role_arn="",
            is_ours=lambda address: address == "127.0.0.1",
            died=lambda thread, error: pytest.fail(f"{thread}: {error!r}"),
        )
        assert server.listener.address == "127.0.0.1"
        assert ask(server.listener.port)[0] == 200
        assert ask(server.listener.port, token="another")[0] == 404
        server.close()
