"""The routes of this machine. The network of a job must not use addresses that they use, such as those of a VPN."""

from ipaddress import IPv4Network

_TABLE = "/proc/net/route"
_MIN_PREFIX = 8
"""Wider routes are ignored: some VPNs have a default route in two halves."""


def routed_subnets(table: str = _TABLE) -> list[str]:
    """The subnets of all routes but the default one."""
    try:
        with open(table, encoding="ascii") as file:
            lines = file.read().splitlines()[1:]
    except OSError:  # not Linux
        return []
    found = (_subnet(line.split()) for line in lines)
    return [str(subnet) for subnet in found if subnet.prefixlen >= _MIN_PREFIX]


def _subnet(fields: list[str]) -> IPv4Network:
    destination, mask = (int.from_bytes(bytes.fromhex(fields[column]), "little") for column in (1, 7))
    return IPv4Network((destination, mask.bit_count()))
