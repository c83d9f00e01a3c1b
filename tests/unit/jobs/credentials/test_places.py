"""Clients that keep connections open and say nothing cannot keep others away, however many they are."""

import socket
from collections.abc import Callable, Iterator

import pytest

from smlocal.data.sources.s3.aws_session import Credentials
from smlocal.jobs.credentials.listener import Listener, Secret
from smlocal.jobs.credentials.server import MOST, CredentialServer, Places, RenewedKeys

SECRET = Secret(path="/v2/credentials/proxy-unit-customer", token="token")
REQUEST = f"GET {SECRET.path} HTTP/1.1\r\nAuthorization: token\r\n\r\n".encode()
Connect = Callable[[str], socket.socket]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connects from an address to a server of its own."""
    bound = socket.create_server(("127.0.0.1", 0), backlog=4 * MOST)
    server = CredentialServer(
        listener=Listener(socket=bound, port=bound.getsockname()[1]),
        secret=SECRET,
        keys=RenewedKeys(fetch=lambda: Credentials(access_key="AKIA", secret_key="hidden")),
        role_arn="arn:role",
        is_ours=lambda _: True,
        make_address=lambda: None,
        died=lambda thread, error: pytest.fail(f"{thread}: {error!r}"),
    )
    server.begin()
    made = []

    def connect_from(address: str) -> socket.socket:
        made.append(socket.create_connection(bound.getsockname(), timeout=200, source_address=(address, 0)))
        return made[-1]

    yield connect_from
    for each in made:
        each.close()
    server.close()


def status(client: socket.socket) -> int:
    with client.makefile("rb") as answer:
        return int(answer.readline().split()[1])


@pytest.mark.parametrize("addresses", [1, 3])
def test_a_container_that_fills_all_places(addresses: int, connect: Connect) -> None:
    for number in range(3 * MOST):
        connect(f"127.0.0.{2 + number % addresses}").sendall(b"GET /" if number % 2 else b"")
    for address in ("127.0.0.9", "127.0.0.2"):  # another container, and the same one
        client = connect(address)
        client.sendall(REQUEST)
        assert status(client) == 200


def test_the_busiest_address_loses_its_oldest(connect: Connect) -> None:
    quiet = connect("127.0.0.9")
    busy = [connect("127.0.0.2") for _ in range(MOST)]
    assert busy[0].recv(100) == b""  # closed; the only one of another address waits on
    quiet.sendall(REQUEST)
    assert status(quiet) == 200
    busy[-1].sendall(REQUEST)
    assert status(busy[-1]) == 200


def test_who_is_being_answered_keeps_the_place() -> None:
    pairs = [socket.socketpair() for _ in range(4)]
    places = Places(most=2)
    first, second = (places.take(pairs[index][0]) for index in range(2))
    assert first is not None
    assert second is not None
    places.answering(first)
    assert places.take(pairs[2][0]) is not None
    assert pairs[1][1].recv(1) == b""
    places.leave(second)  # which has lost it already
    for place in [*places._taken]:
        places.answering(place)
    assert places.take(pairs[3][0]) is None
    places.leave(first)
    for pair in pairs:
        for each in pair:
            each.close()
