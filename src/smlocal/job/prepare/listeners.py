"""Whether a service on this machine listens where containers reach it, from the kernel's own tables."""

from collections.abc import Mapping, Sequence

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENING = "0A"
_LOOPBACK_4 = "7F"
_LOOPBACK_6 = ("00000000000000000000000001000000", "0000000000000000FFFF0000")


def on_loopback_only(endpoints: Mapping[str, str], tables: Sequence[str] = _TABLES) -> tuple[str, ...]:
    """The services of `Local.Endpoints` on this machine that only programs of this machine reach."""
    from smlocal.contract.endpoints import local_port

    ports = {service: local_port(url) for service, url in endpoints.items()}
    heard = _listeners({port for port in ports.values() if port is not None}, tables)
    return tuple(
        service
        for service, port in ports.items()
        if port is not None and heard.get(port) and all(map(_is_loopback, heard[port]))
    )


def _listeners(ports: set[int], tables: Sequence[str]) -> dict[int, list[str]]:
    """The addresses, as the kernel writes them, on which each port is listened to."""
    found: dict[int, list[str]] = {}
    for table in tables:
        try:
            with open(table, encoding="ascii") as file:
                rows = [line.split() for line in file.readlines()[1:]]
        except OSError:  # no Linux, or no IPv6
            continue
        for row in rows:
            address, _, port = row[1].partition(":")
            if row[3] == _LISTENING and int(port, 16) in ports:
                found.setdefault(int(port, 16), []).append(address)
    return found


def _is_loopback(address: str) -> bool:
    """Four bytes in the processor's order, so that the first one stands last; IPv6 in four such words."""
    if len(address) == len("0100007F"):
        return address.endswith(_LOOPBACK_4)
    whole, mapped = _LOOPBACK_6
    return address == whole or (address.startswith(mapped) and address.endswith(_LOOPBACK_4))
