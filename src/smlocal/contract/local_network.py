"""Settings of `Local` about the network of containers: what a range of addresses and an endpoint look like."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from urllib.parse import urlsplit

from smlocal.contract.document import Path, spoken
from smlocal.contract.local_settings import LocalSettings
from smlocal.contract.violation import Violation

_SERVICE = re.compile(r"[A-Za-z][A-Za-z0-9]*([ _-][A-Za-z0-9]+)*", re.ASCII)


def network_violations(local: LocalSettings, *, path: Path) -> list[Violation]:
    """What is wrong with the settings of the network."""
    return list(_found(local, path))


def _found(local: LocalSettings, path: Path) -> Iterator[Violation]:
    try:
        IPv4Network(local.NetworkRange)
    except ValueError:
        said = f"'{local.NetworkRange}' is no range of IPv4 addresses; write 10.99.0.0/16"
        yield _says((*path, "NetworkRange"), said)
    for service, url in local.Endpoints.items():
        place = (*path, "Endpoints", service)
        if _SERVICE.fullmatch(service) is None:
            yield _says(place, "is no name of a service; write s3, sts, dynamodb, secrets_manager")
        if not _is_url(url):
            yield _says(place, f"'{url}' is no URL of a service; write http://localhost:9000")


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")
