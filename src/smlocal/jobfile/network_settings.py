"""Validate the network settings of `Local`: the range of addresses and the endpoints."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from urllib.parse import urlsplit

from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.settings import LocalSettings

_FEWEST_BITS = 30
"""A network needs its own address, the gateway's, a host's, and the broadcast address."""
_RESERVED = {
    "0.0.0.0/8": "unspecified",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
_SERVICE = re.compile(r"[A-Za-z][A-Za-z0-9]*([ _-][A-Za-z0-9]+)*", re.ASCII)


def network_violations(local: LocalSettings, *, path: Path) -> list[Violation]:
    """What is wrong with the settings of the network."""
    return list(_found(local, path))


def _found(local: LocalSettings, path: Path) -> Iterator[Violation]:
    trouble = _range_trouble(local.NetworkRange)
    if trouble is not None:
        yield _says((*path, "NetworkRange"), f"'{local.NetworkRange}' {trouble}; write it like 10.99.0.0/16")
    for service, url in local.Endpoints.items():
        place = (*path, "Endpoints", service)
        if _SERVICE.fullmatch(service) is None:
            yield _says(place, "is not a valid service name; write it like s3, sts, dynamodb or secrets_manager")
        if not _is_url(url):
            yield _says(place, f"'{url}' is not a valid service URL; write it like http://localhost:9000")


def _range_trouble(given: str) -> str | None:
    try:
        network = IPv4Network(given)
    except ValueError:
        return "is not a valid range of IPv4 addresses"
    if network.prefixlen > _FEWEST_BITS:
        return "is too small: the network of a job needs at least four addresses"
    reserved = next((what for each, what in _RESERVED.items() if network.overlaps(IPv4Network(each))), None)
    return None if reserved is None else f"has {reserved} addresses, which a container network cannot use"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")
