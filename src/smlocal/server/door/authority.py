"""The certificate authority of one run of `smlocal exec`. Its key is in memory alone, and ends with the run."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_network
from tempfile import NamedTemporaryFile

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from smlocal.server.aws_names import DOMAINS

_VALID = timedelta(days=30)
"""A program may wait for the longest job of the service, which has 28 days."""
_CLOCK = timedelta(hours=1)
_MOST_HOSTS = 512
_ALL_ADDRESSES = (ip_network("0.0.0.0/0"), ip_network("::/0"))


class Authority:
    """Makes certificates for AWS's host names. It can make none for other names: clients would refuse them."""

    def __init__(self) -> None:
        """A new one."""
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
        """What a server needs to be taken for this host."""
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
    """OpenSSL reads files alone. Nobody else can read this one, and it is gone at once."""
    with NamedTemporaryFile(suffix=".pem") as file:
        file.write(content)
        file.flush()
        yield file.name
