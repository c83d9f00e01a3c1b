"""Where this machine sends packets: a network of a job must not take addresses that mean something here, as a VPN's."""

from ipaddress import IPv4Network

_TABLE = "/proc/net/route"
_AS_GOOD_AS_ALL = 8
"""Some VPNs say `everywhere` in two halves; whatever is so wide is no reason to stay away."""


def routed(table: str = _TABLE) -> list[str]:
    """The subnets of the machine's routes, all but default ones."""
    try:
        with open(table, encoding="ascii") as file:
            lines = file.read().splitlines()[1:]
    except OSError:  # no Linux
        return []
    found = (_subnet(line.split()) for line in lines)
    return [str(subnet) for subnet in found if subnet.prefixlen >= _AS_GOOD_AS_ALL]


def _subnet(fields: list[str]) -> IPv4Network:
    destination, mask = (int.from_bytes(bytes.fromhex(fields[column]), "little") for column in (1, 7))
    return IPv4Network((destination, mask.bit_count()))
