"""Certificates of a run: only for AWS's names, and trusted by clients that check strictly."""

import json
import os
import socket
import ssl
import stat
import subprocess
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from smlocal.endpoint.door.environment import bundle
from smlocal.endpoint.door.proxy import Authority
from smlocal.endpoint.protocol.aws_names import DOMAINS, is_above_aws, is_aws


def test_the_domains_are_those_of_all_partitions() -> None:
    import botocore

    partitions = json.loads(Path(botocore.__file__).with_name("data").joinpath("partitions.json").read_text())
    known = {each["outputs"][kind] for each in partitions["partitions"] for kind in ("dnsSuffix", "dualStackDnsSuffix")}
    assert set(DOMAINS) == known


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("sts.us-east-1.amazonaws.com", True),
        ("a.b-c.s3.eu-west-1.amazonaws.com", True),
        ("api.sagemaker.us-east-1.api.aws", True),
        ("logs.cn-north-1.api.amazonwebservices.com.cn", True),
        ("amazonaws.com", False),
        ("aws.amazon.com", False),
        ("notamazonaws.com", False),
        ("amazonaws.com.attacker.example", False),
        ("..amazonaws.com", False),
        ("a" * 64 + ".amazonaws.com", False),
        ("a." * 130 + "amazonaws.com", False),
        ("a\n.amazonaws.com", False),
        ("\u00e9.amazonaws.com", False),
    ],
)
def test_which_names_are_answered(host: str, ours: bool) -> None:
    assert is_aws(host) is ours


@pytest.mark.parametrize(
    ("entry", "above"),
    [
        *((each, True) for each in ("*", " * ", "com", ".com", ".amazonaws.com", "s3.amazonaws.com:443", "*.api.aws")),
        *((each, False) for each in ("", "localhost", "::1", "10.0.0.0/8", ".example.com", "naws.com", "127.0.0.1:80")),
    ],
)
def test_which_entries_of_no_proxy_would_hide_us(entry: str, above: bool) -> None:
    assert is_above_aws(entry) is above


def handshake(authority: Authority, asked: str, issued: str) -> str:
    """The reason why a strict client refuses a certificate that was issued for one name and is asked for another."""
    ours, theirs = socket.socketpair()
    server = threading.Thread(target=_serve, args=(authority.context_for(issued), ours))
    server.start()
    context = ssl.create_default_context(cadata=authority.certificate.decode())
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    try:
        with theirs, context.wrap_socket(theirs, server_hostname=asked):
            return ""
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    finally:
        server.join(60)


def _serve(context: ssl.SSLContext, connection: socket.socket) -> None:
    try:
        with connection, context.wrap_socket(connection, server_side=True) as tls:
            tls.recv(1)
    except OSError:
        return


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_name_of_aws_is_trusted(domain: str) -> None:
    assert handshake(Authority(), f"a.b.{domain}", f"a.b.{domain}") == ""


@pytest.mark.parametrize("name", ["pypi.org", "localhost", "amazonaws.com.attacker.example", "notamazonaws.com"])
def test_the_authority_is_good_for_no_other_name(name: str) -> None:
    assert "permitted subtree violation" in handshake(Authority(), name, name)


def test_it_is_good_for_no_address_and_another_run_is_not_trusted() -> None:
    other = Authority()
    certificate = x509.load_pem_x509_certificate(other.certificate)
    constraints = certificate.extensions.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical
    excluded = constraints.value.excluded_subtrees or ()
    assert {str(each.value) for each in excluded} == {"0.0.0.0/0", "::/0"}
    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length == 0
    now = datetime.now(UTC)
    assert certificate.not_valid_before_utc < now
    assert now + timedelta(days=28) < certificate.not_valid_after_utc < now + timedelta(days=31)
    assert Authority().certificate != other.certificate


def test_openssl_agrees(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(Authority().certificate)
    shown = subprocess.run(
        ["openssl", "x509", "-in", tmp_path / "ca.pem", "-noout", "-text"], capture_output=True, text=True, check=True
    ).stdout
    assert "X509v3 Name Constraints: critical" in shown
    assert "DNS:api.aws" in shown


def test_the_bundle_is_there_for_one_run_and_what_others_left_goes(tmp_path: Path) -> None:
    others = tmp_path / "others.pem"
    others.write_text("others")
    home = tmp_path / "home"
    home.mkdir()
    (home / "certificate-authority.pem").write_text("a key that was valid for ever")
    (home / "certificates-0123456789abcdef.pem").write_text("of a run that was killed")
    with bundle(str(home), b"ours", str(others)) as first, bundle(str(home), b"second", str(others)) as second:
        assert Path(first).read_text() == "others\nours"
        assert Path(second).read_text() == "others\nsecond"
        assert stat.S_IMODE(os.stat(first).st_mode) == 0o600
        assert {str(path) for path in home.iterdir()} == {first, second}
    assert list(home.iterdir()) == []


def test_nothing_of_the_key_is_left_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    def look(context: Any, path: str) -> None:
        seen.append(stat.S_IMODE(os.stat(path).st_mode))
        load(context, path)

    class Watched(ssl.SSLContext):
        load_cert_chain: Callable[..., None] = look

    monkeypatch.setattr(ssl, "create_default_context", lambda *_: Watched(ssl.PROTOCOL_TLS_SERVER))
    Authority().context_for("sts.amazonaws.com")
    assert seen == [0o600]
    assert list(tmp_path.iterdir()) == []
