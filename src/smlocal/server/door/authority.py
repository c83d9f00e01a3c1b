"""The certificate authority of a home: made once, for the TLS door alone, and readable by its owner alone."""

import os
import ssl
from functools import lru_cache

import trustme

_FILE = "certificate-authority.pem"
_BEGIN = b"-----BEGIN CERTIFICATE-----"
_MOST_HOSTS = 512


class Authority:
    """Makes certificates for AWS's host names. Only programs that `smlocal exec` starts trust it."""

    def __init__(self, home: str) -> None:
        """Read the authority of the home, or make it."""
        path = os.path.join(home, _FILE)
        self._ca = _read(path) or _make(path)
        self.certificate: bytes = self._ca.cert_pem.bytes()
        self.context_for = lru_cache(_MOST_HOSTS)(self._context)

    def _context(self, host: str) -> ssl.SSLContext:
        """What a server needs to be taken for this host."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._ca.issue_cert(host).configure_cert(context)
        return context


def _read(path: str) -> trustme.CA | None:
    try:
        with open(path, "rb") as file:
            key, begin, certificate = file.read().partition(_BEGIN)
    except FileNotFoundError:
        return None
    return trustme.CA.from_pem(begin + certificate, key)


def _make(path: str) -> trustme.CA:
    """Under a temporary name first, so that no other process sees half of it, and one made by another stays."""
    ca = trustme.CA(organization_name="smlocal", organization_unit_name="AWS's host names on this machine")
    partial = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(ca.private_key_pem.bytes() + ca.cert_pem.bytes())
        os.link(partial, path)
    except FileExistsError:
        return _read(path) or ca
    finally:
        os.unlink(partial)
    return ca
