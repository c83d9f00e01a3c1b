"""The key that clients of a server sign with, where others than this machine reach it."""

import ipaddress
import json
import os
import secrets
import string
from collections.abc import Mapping
from contextlib import suppress

from smlocal.errors.serving import EndpointKeyError
from smlocal.server.signature import Signatures

ACCESS_KEY, SECRET_KEY = "SMLOCAL_ACCESS_KEY_ID", "SMLOCAL_SECRET_ACCESS_KEY"
"""Variables with a key of the owner's choice."""
_FILE = "endpoint-key.json"
_LETTERS = string.ascii_uppercase + "234567"


def is_loopback(host: str) -> bool:
    """True for an address or name that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def key_of_environment(environment: Mapping[str, str]) -> Signatures | None:
    """The key that the owner has chosen; `EndpointKeyError` for half of one."""
    access, secret = environment.get(ACCESS_KEY, ""), environment.get(SECRET_KEY, "")
    if not access and not secret:
        return None
    if not access or not secret:
        missing = SECRET_KEY if access else ACCESS_KEY
        raise EndpointKeyError(
            f"{missing} is not set, and the other half of the key is",
            remedy=[f"Set both {ACCESS_KEY} and {SECRET_KEY}, or neither: then smlocal makes a key."],
        )
    return Signatures(access_key=access, secret_key=secret)


def key_of_home(home: str, file: str = _FILE) -> Signatures:
    """The key of this home, made with the first use, so that clients still have it after a restart."""
    path = os.path.join(home, file)
    found = _read(path)
    if found is not None:
        return found
    made = {
        "AccessKeyId": "AKIA" + "".join(secrets.choice(_LETTERS) for _ in range(16)),
        "SecretAccessKey": secrets.token_urlsafe(30),
    }
    partial = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as out:
            json.dump(made, out)
        with suppress(FileExistsError):  # made by another process in the meantime
            os.link(partial, path)
    finally:
        os.unlink(partial)
    key = _read(path)
    if key is None:
        raise AssertionError(path)
    return key


def _read(path: str) -> Signatures | None:
    try:
        with open(path, encoding="utf-8") as file:
            key = json.load(file)
    except FileNotFoundError:
        return None
    return Signatures(access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"])
