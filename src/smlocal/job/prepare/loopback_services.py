"""Which local services listen only on the loopback interface, by the kernel's tables. Containers cannot reach them."""

from collections.abc import Mapping, Sequence

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENING = "0A"
_LOOPBACK_4 = "7F"
_LOOPBACK_6 = ("00000000000000000000000001000000", "0000000000000000FFFF0000")


def loopback_only_services(endpoints: Mapping[str, str], tables: Sequence[str] = _TABLES) -> tuple[str, ...]:
    """Those of `Local.Endpoints` that listen only there."""
    from smlocal.contract.endpoints import local_port

    ports = {service: local_port(url) for service, url in endpoints.items()}
    listening = _listeners({port for port in ports.values() if port is not None}, tables)
    return tuple(
        service
        for service, port in ports.items()
        if port is not None and listening.get(port) and all(map(_is_loopback, listening[port]))
    )


def _listeners(ports: set[int], tables: Sequence[str]) -> dict[int, list[str]]:
    """By port: the addresses on which a program listens, as the kernel writes them."""
    found: dict[int, list[str]] = {}
    for table in tables:
        try:
            with open(table, encoding="ascii") as file:
                rows = [line.split() for line in file.readlines()[1:]]
        except OSError:  # not Linux, or no IPv6
            continue
        for row in rows:
            address, _, port = row[1].partition(":")
            if row[3] == _LISTENING and int(port, 16) in ports:
                found.setdefault(int(port, 16), []).append(address)
    return found


def _is_loopback(address: str) -> bool:
    """An address has four bytes in the processor's order, so the first one is the last; IPv6 has four such words."""
    if len(address) == len("0100007F"):
        return address.endswith(_LOOPBACK_4)
    whole, mapped = _LOOPBACK_6
    return address == whole or (address.startswith(mapped) and address.endswith(_LOOPBACK_4))
