"""Encrypted, and through proxies: what stands between most people and their S3."""

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy
from tests.kit.s3_servers import ACCESS_KEY, SECRET_KEY, Rclone, environment, opened

from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.interface import S3Error, S3Object


class EncryptedRclone(Rclone):
    """rclone's server with a certificate that only this test's authority vouches for."""

    def command(self) -> list[str]:
        return [*super().command(), "--cert", str(self.folder / "cert.pem"), "--key", str(self.folder / "key.pem")]

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EncryptedRclone]:
    made = EncryptedRclone(tmp_path_factory.mktemp("encrypted"))
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(command, cwd=made.folder, check=True, capture_output=True)
    (made.folder / "data" / "bucket").mkdir(parents=True)
    (made.folder / "data" / "bucket" / "key").write_bytes(bytes(range(256)) * 8192)
    made.start()
    yield made
    made.close()


class Tunnel:
    """A proxy that knows CONNECT; keeps what it was asked."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.asked: list[str] = []
        self.sockets: list[socket.socket] = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    @property
    def url(self) -> str:
        return f"http://us%40er:pass@127.0.0.1:{self.listener.getsockname()[1]}"

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for each in self.sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(200)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.asked.append(client.recv(4096).decode())
                host, _, port = self.asked[-1].split()[1].rpartition(":")
                server = socket.create_connection((host, int(port)))
                self.sockets += [client, server]
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                both = threading.Barrier(2)
                for pair in ((client, server), (server, client)):
                    self.threads.append(threading.Thread(target=self._relay, args=(*pair, both), daemon=True))
                    self.threads[-1].start()

    @staticmethod
    def _relay(source: socket.socket, target: socket.socket, both: threading.Barrier) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        with suppress(threading.BrokenBarrierError):
            both.wait(60)
        source.close()


@pytest.fixture
def tunnel() -> Iterator[Tunnel]:
    made = Tunnel()
    yield made
    made.close()


@pytest.fixture
def open_with() -> Iterator[Callable[..., S3Client]]:
    clients: list[S3Client] = []

    def make(url: str, **extra: str) -> S3Client:
        clients.append(opened(environment(url, extra), retry_seconds=10))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def read(store: S3Client) -> bytes:
    buffer = bytearray(256 * 8192)
    assert store.read_into(S3Object(bucket="bucket", key="key"), 0, memoryview(buffer)) == len(buffer)
    return bytes(buffer)


@pytest.mark.parametrize("name", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"])
def test_a_certificate_that_is_trusted(server: EncryptedRclone, open_with: Callable[..., S3Client], name: str) -> None:
    store = open_with(server.url, **{name: str(server.folder / "cert.pem")})
    assert [each.key for each in store.list_objects("bucket", "")] == ["key"]
    assert read(store) == bytes(range(256)) * 8192


def test_a_certificate_that_is_not(server: EncryptedRclone, open_with: Callable[..., S3Client]) -> None:
    with pytest.raises(S3Error, match="CERTIFICATE_VERIFY_FAILED") as error:
        next(open_with(server.url).list_objects("bucket", ""))
    assert error.value.status == 0


def test_through_a_tunnel(server: EncryptedRclone, open_with: Callable[..., S3Client], tunnel: Tunnel) -> None:
    trusted = str(server.folder / "cert.pem")
    store = open_with(server.url, AWS_CA_BUNDLE=trusted, HTTPS_PROXY=tunnel.url)
    assert read(store) == bytes(range(256)) * 8192
    assert tunnel.asked[0].startswith(f"CONNECT localhost:{server.port} HTTP/1.")
    assert "proxy-authorization: basic dxnazxi6cgfzcw==" in tunnel.asked[0].lower()
    assert ACCESS_KEY not in tunnel.asked[0]
    store.close()


def test_through_a_proxy_that_sees_everything(
    s3: Rclone, proxy: TroubledProxy, open_with: Callable[..., S3Client], bucket: str
) -> None:
    s3.put(bucket, "a b", b"data")
    # The proxy only relays; the server understands the whole address.
    store = open_with(f"http://127.0.0.1:{s3.port}", HTTP_PROXY=proxy.url)
    assert store.head(bucket, "a b").size == 4
    assert proxy.requests[0].startswith(f"HEAD http://127.0.0.1:{s3.port}/{bucket}/a%20b HTTP/1.1\r\n")
    assert SECRET_KEY not in proxy.requests[0]
