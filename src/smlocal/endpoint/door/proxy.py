"""The TLS door: an HTTPS proxy that answers for AWS's host names, and passes all others through unread.

Only who knows its password gets through it: the program of one run of `smlocal exec`. The key of its certificate
authority is only in memory, and ends with the run.
"""

import asyncio
import hmac
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_network
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import unquote, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from smlocal.base.web import MessageError, MessageHead, take_head
from smlocal.endpoint.http_server import HttpConnection
from smlocal.endpoint.protocol.aws_names import DOMAINS, is_aws

USER = "smlocal"
MOST_HEAD = 16 << 10
"""For `asyncio.start_server`: the limit of bytes that are read ahead."""
_HEAD_SECONDS, _CONNECT_SECONDS, _TLS_SECONDS = 20.0, 30.0, 20.0
_PIECE = 64 << 10
_Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


_VALID = timedelta(days=30)
"""So long certificates are: a program may wait for the longest job of the service, which has 28 days."""
_CLOCK = timedelta(hours=1)
_MOST_HOSTS = 512
_ALL_ADDRESSES = (ip_network("0.0.0.0/0"), ip_network("::/0"))


class Authority:
    """Makes certificates for AWS's host names. It can make none for other names: clients would refuse them."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "smlocal exec")])
        now = datetime.now(UTC)
        self._valid = (now - _CLOCK, now + _VALID)
        public = self._key.public_key()
        made = (
            self._begun(self._name, public)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(
                x509.NameConstraints(
                    permitted_subtrees=[x509.DNSName(domain) for domain in DOMAINS],
                    excluded_subtrees=[x509.IPAddress(each) for each in _ALL_ADDRESSES],
                ),
                critical=True,
            )
            .sign(self._key, SHA256())
        )
        self.certificate: bytes = made.public_bytes(Encoding.PEM)
        self.context_for = lru_cache(_MOST_HOSTS)(self._context)

    def _begun(self, subject: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        begin, end = self._valid
        return x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=subject,
            public_key=public,
            serial_number=x509.random_serial_number(),
            not_valid_before=begin,
            not_valid_after=end,
        )

    def _context(self, host: str) -> ssl.SSLContext:
        """The certificate of a server that is taken for this host."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            self._begun(x509.Name([]), key.public_key())
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=True)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
            .sign(self._key, SHA256())
        )
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        with _file(pem + certificate.public_bytes(Encoding.PEM)) as path:
            context.load_cert_chain(path)
        return context


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    """OpenSSL reads only files. No other user can read this one, and it is removed at once."""
    with NamedTemporaryFile(suffix=".pem") as file:
        file.write(content)
        file.flush()
        yield file.name


class Proxy:
    """Serves CONNECT. Requests to AWS's names are answered in this process."""

    def __init__(
        self,
        *,
        authority: Authority,
        password: str,
        connection: Callable[[], HttpConnection],
        upstream: str | None,
        log: Callable[[str], None],
    ) -> None:
        """`connection` makes what answers AWS's names. `upstream`: the proxy that the user has set for all others."""
        self._authority = authority
        self._login = b64encode(f"{USER}:{password}".encode())
        self._connection = connection
        self._upstream = upstream
        self._log = log

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        try:
            host, port, login = await _asked(reader)
        except (ValueError, OSError, TimeoutError, EOFError, asyncio.LimitOverrunError, MessageError):
            await _refuse(writer, "400 Bad Request")
            return
        if not hmac.compare_digest(login, self._login):
            await _refuse(writer, "407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="smlocal exec"')
            return
        try:
            if is_aws(host):
                with suppress(ConnectionError):  # a client may go at any time
                    await self._aws(writer, host)
            else:
                await self._other(reader, writer, host, port)
        except (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError, MessageError) as error:
            self._log(f"proxy: {host}: {str(error) or type(error).__name__}")
            await _refuse(writer, "502 Bad Gateway")
        finally:
            writer.close()

    async def _aws(self, writer: asyncio.StreamWriter, host: str) -> None:
        writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
        await writer.drain()
        early = _Early()
        transport: Any = await asyncio.get_running_loop().start_tls(
            writer.transport,
            early,
            self._authority.context_for(host),
            server_side=True,
            ssl_handshake_timeout=_TLS_SECONDS,
        )
        if transport is None or early.lost:
            return
        connection, lost = self._connection(), asyncio.Event()
        connection.when_lost = lost.set
        transport.set_protocol(connection)
        connection.connection_made(transport)
        if early.data:
            connection.data_received(bytes(early.data))
        try:
            await lost.wait()
        finally:
            transport.abort()

    async def _other(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                other = await (_open_through(self._upstream, host, port) if self._upstream else _open(host, port))
        except TimeoutError as error:
            whose = "your own proxy, of HTTPS_PROXY, does not answer" if self._upstream else "it does not answer"
            raise TimeoutError(f"{whose} within {_CONNECT_SECONDS:g} s") from error
        try:
            writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
            await writer.drain()
            await _relay((reader, writer), other)
        finally:
            other[1].close()


class _Early(asyncio.Protocol):
    """Keeps what a client sends before its connection has been handed on."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.lost = False

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.lost = True


async def _asked(reader: asyncio.StreamReader) -> tuple[str, int, bytes]:
    """Host and port of `CONNECT host:port HTTP/1.1`, and the login, which may be empty."""
    async with asyncio.timeout(_HEAD_SECONDS):
        head = await _head(reader)
    head.check_request()
    method, target, _ = head.first
    address = urlsplit(f"//{target}")
    if method != "CONNECT" or not target.isascii() or address.hostname is None or address.port is None:
        raise ValueError(method)
    kind, _, login = head.headers.get("proxy-authorization", "").partition(" ")
    return address.hostname.rstrip("."), address.port, login.strip().encode() if kind.lower() == "basic" else b""


async def _head(reader: asyncio.StreamReader) -> MessageHead:
    head, _ = take_head(await reader.readuntil(b"\r\n\r\n"))
    if head is None:
        raise MessageError("its head is not complete")
    return head


async def _open(host: str, port: int) -> _Pair:
    return await asyncio.open_connection(host, port)


async def _open_through(proxy: str, host: str, port: int) -> _Pair:
    """A connection by way of the user's own proxy."""
    address = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    default = 443 if address.scheme == "https" else 80
    try:
        reader, writer = await asyncio.open_connection(
            address.hostname, address.port or default, ssl=True if address.scheme == "https" else None
        )
    except OSError as error:
        raise OSError(f"your own proxy {address.hostname}, of HTTPS_PROXY, is unreachable: {error}") from error
    named = f"[{host}]" if ":" in host else host
    login = ""
    if address.username is not None:
        pair = f"{unquote(address.username)}:{unquote(address.password or '')}"
        login = f"Proxy-Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
    writer.write(f"CONNECT {named}:{port} HTTP/1.1\r\nHost: {named}:{port}\r\n{login}\r\n".encode())
    try:
        head = await _head(reader)
    except BaseException:
        writer.close()
        raise
    if head.first[1] != "200":
        writer.close()
        raise OSError(f"your own proxy {address.hostname} refuses: {' '.join(head.first)}")
    return reader, writer


async def _relay(one: _Pair, other: _Pair) -> None:
    """Copy both ways, until both have ended or one has failed."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(one[0], other[1]))
        group.create_task(_copy(other[0], one[1]))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            target.write(piece)
            await target.drain()
    with suppress(OSError):
        if target.can_write_eof():
            target.write_eof()
        else:  # TLS
            target.close()


async def _refuse(writer: asyncio.StreamWriter, status: str, *headers: str) -> None:
    lines = (f"HTTP/1.1 {status}", *headers, "Content-Length: 0", "Connection: close", "", "")
    with suppress(OSError):
        writer.write("\r\n".join(lines).encode())
        await writer.drain()
    writer.close()
