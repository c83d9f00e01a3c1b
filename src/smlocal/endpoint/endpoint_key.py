"""The key that clients of a server sign with, where others than its owner reach it."""

import ipaddress
import json
import os
from collections.abc import Mapping
from contextlib import suppress

from smlocal.base.accounts import other_users, why_a_key
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.door.environment import new_key
from smlocal.endpoint.signature import Signatures
from smlocal.errors.of_commands import EndpointKeyError

ACCESS_KEY, SECRET_KEY = "SMLOCAL_ACCESS_KEY_ID", "SMLOCAL_SECRET_ACCESS_KEY"
"""Variables with a key of the owner's choice."""
_FILE = "endpoint-key.json"


def is_loopback(host: str) -> bool:
    """True for an address or name that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """Whether a server answers only signed requests, and the reason to show its owner."""

    needed: bool
    why: str


def demanded(host: str, *, chosen: Signatures | None, asked: bool | None) -> Demand:
    """The demands of a server on this address. `chosen`: the owner's key. `asked`: None if the owner does not say.

    `EndpointKeyError` if the owner wants two things at once.
    """
    if asked is False:
        _check_may_be_open(host, chosen)
        return Demand(needed=False, why="to every user of this machine, without a key: --no-key")
    if chosen is not None:
        return Demand(needed=True, why="to anyone with the key from the environment")
    if not is_loopback(host):
        return _needed("other machines can reach it")
    if asked:
        return _needed("--key")
    others = other_users()
    if others:
        return _needed(why_a_key(others))
    return Demand(needed=False, why="without a key: nobody else has an account on this machine")


def _needed(why: str) -> Demand:
    return Demand(needed=True, why=f"to anyone with the key: {why}")


def _check_may_be_open(host: str, chosen: Signatures | None) -> None:
    if not is_loopback(host):
        raise EndpointKeyError(
            f"--no-key is only for this machine, and others can reach {host}",
            remedy=["Leave out --no-key, or --host."],
        )
    if chosen is not None:
        raise EndpointKeyError(
            f"--no-key is given, and {ACCESS_KEY} is set", remedy=[f"Leave out --no-key, or {ACCESS_KEY}."]
        )


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
    made = dict(zip(("AccessKeyId", "SecretAccessKey"), new_key(), strict=True))
    partial = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as out:
            json.dump(made, out)
        with suppress(FileExistsError):  # made by another process in the meantime
            os.link(partial, path)
    finally:
        os.unlink(partial)
    found = _read(path)
    if found is None:
        raise AssertionError(path)
    return found


def _read(path: str) -> Signatures | None:
    try:
        with open(path, encoding="utf-8") as file:
            key = json.load(file)
    except FileNotFoundError:
        return None
    return Signatures(access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"])
