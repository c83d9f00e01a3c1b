"""The network of a job's own: its addresses are chosen beforehand, so that every host knows all from the beginning.

An engine's DNS knows a container only once it is started; what stands in `/etc/hosts` is there before.
"""

from collections.abc import Iterator, Mapping, Sequence

from smlocal.quick_dataclass import dataclass

_USUAL_BITS = 24
_NOT_HOSTS = 3
"""Of every network: its own address, the gateway's and the one for broadcasts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkPlan:
    """A private network of one job."""

    name: str
    within: str
    """The range that its subnet is taken from."""
    subnet: str
    """`198.18.7.0/24`"""
    gateway: str
    """Of the engine's machine; on an isolated network nobody has this address."""
    addresses: Mapping[str, str]
    """Of every host, by its name."""
    isolated: bool = False
    """No way out, not even to the machine that it is on."""


def plan_network(name: str, subnet: str, hosts: Sequence[str], *, within: str, isolated: bool) -> NetworkPlan:
    """Deal out the addresses of a subnet."""
    from ipaddress import IPv4Network

    network = IPv4Network(subnet)
    return NetworkPlan(
        name=name,
        within=within,
        subnet=subnet,
        gateway=str(network[1]),
        addresses={host: str(network[number]) for number, host in enumerate(hosts, start=2)},
        isolated=isolated,
    )


def candidates(within: str, hosts: int, *, seed: int) -> Iterator[str]:
    """Subnets of a range with room for so many hosts, each once, the first by chance: jobs shall not meet in one."""
    from ipaddress import IPv4Network

    whole = IPv4Network(within)
    bits = min(_USUAL_BITS, 32 - (hosts + _NOT_HOSTS - 1).bit_length())
    bits = max(bits, whole.prefixlen)
    if (1 << (32 - bits)) < hosts + _NOT_HOSTS:
        return
    size, first, count = 1 << (32 - bits), int(whole.network_address), 1 << (bits - whole.prefixlen)
    for step in range(count):
        yield str(IPv4Network((first + (seed + step) % count * size, bits)))


def overlaps(subnet: str, taken: Sequence[str]) -> bool:
    """True when some address is in both."""
    from ipaddress import IPv4Network

    network = IPv4Network(subnet)
    return any(network.overlaps(IPv4Network(each)) for each in taken)
