"""Settings of `Local` about the network of containers: what a range of addresses and an endpoint look like."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from urllib.parse import urlsplit

from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.local_settings import LocalSettings

_FEWEST_BITS = 30
"""Its own address, the gateway's, a host's, and the one for broadcasts."""
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
        yield _says((*path, "NetworkRange"), f"'{local.NetworkRange}' {trouble}; write 10.99.0.0/16")
    for service, url in local.Endpoints.items():
        place = (*path, "Endpoints", service)
        if _SERVICE.fullmatch(service) is None:
            yield _says(place, "is no name of a service; write s3, sts, dynamodb, secrets_manager")
        if not _is_url(url):
            yield _says(place, f"'{url}' is no URL of a service; write http://localhost:9000")


def _range_trouble(given: str) -> str | None:
    try:
        network = IPv4Network(given)
    except ValueError:
        return "is no range of IPv4 addresses"
    if network.prefixlen > _FEWEST_BITS:
        return "has too few addresses, the network of a job needs four or more"
    reserved = next((what for each, what in _RESERVED.items() if network.overlaps(IPv4Network(each))), None)
    return None if reserved is None else f"has {reserved} addresses in it, which no network of containers can have"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")
