"""The job's own network. smlocal chooses the addresses before the start and writes them to each host's `/etc/hosts`.

The engine's DNS knows a container only after it has started.
"""

from collections.abc import Iterator, Mapping, Sequence

from smlocal.quick_dataclass import dataclass

_USUAL_BITS = 24
_NOT_HOSTS = 3
"""Addresses that hosts cannot have: those of the network, the gateway and broadcasts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkPlan:
    """The private network of one job."""

    name: str
    within: str
    """The range that contains the subnet."""
    subnet: str
    """`198.18.7.0/24`"""
    gateway: str
    """The address of the engine's machine; unused on an isolated network."""
    addresses: Mapping[str, str]
    """By host name."""
    manager: str = ""
    """Of a network across several engines: the address of the engine that makes and removes it."""
    isolated: bool = False
    """Hosts reach only each other, not even the machine that they are on."""


def plan_network(
    name: str, subnet: str, hosts: Sequence[str], *, within: str, isolated: bool, manager: str = ""
) -> NetworkPlan:
    """Give each host an address of the subnet."""
    from ipaddress import IPv4Network

    network = IPv4Network(subnet)
    # A swarm takes addresses for itself, one for each engine, from the beginning on.
    first = network.num_addresses // 2 if manager else 2
    return NetworkPlan(
        name=name,
        within=within,
        subnet=subnet,
        gateway=str(network[1]),
        addresses={host: str(network[number]) for number, host in enumerate(hosts, start=first)},
        isolated=isolated,
        manager=manager,
    )


def candidates(within: str, hosts: int, *, seed: int, overlay: bool = False) -> Iterator[str]:
    """All subnets of a range with enough addresses. `seed` decides which is first, so jobs rarely choose the same.

    `overlay`: half of the addresses are left to the swarm.
    """
    from ipaddress import IPv4Network

    whole = IPv4Network(within)
    hosts *= 2 if overlay else 1
    bits = min(_USUAL_BITS, 32 - (hosts + _NOT_HOSTS - 1).bit_length())
    bits = max(bits, whole.prefixlen)
    if (1 << (32 - bits)) < hosts + _NOT_HOSTS:
        return
    size, first, count = 1 << (32 - bits), int(whole.network_address), 1 << (bits - whole.prefixlen)
    for step in range(count):
        yield str(IPv4Network((first + (seed + step) % count * size, bits)))


def overlaps(subnet: str, taken: Sequence[str]) -> bool:
    """True if the subnet has an address in common with one of the others."""
    from ipaddress import IPv4Network

    network = IPv4Network(subnet)
    return any(network.overlaps(IPv4Network(each)) for each in taken)
