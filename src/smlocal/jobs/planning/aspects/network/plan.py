"""The network of a job, and how its hosts reach each other and this machine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import HOST_GATEWAY, EngineFacts
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts

if TYPE_CHECKING:
    from ipaddress import IPv4Network
    from urllib.parse import unquote, urlsplit
else:
    IPv4Network = at_use("ipaddress", "IPv4Network")
    unquote = at_use("urllib.parse", "unquote")
    urlsplit = at_use("urllib.parse", "urlsplit")


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkFacts:
    """The possible networks of a job. Empty texts: not needed."""

    subnet: str = ""
    """A free subnet for the job's own network."""
    gateway: str = ""
    """The address at which containers on the default network reach this machine."""
    loopback_only: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen only on addresses that containers cannot reach."""


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
    """For a network across several engines: the address of the engine that makes and removes it."""
    isolated: bool = False
    """Hosts reach only each other, not even the machine that they are on."""
    reached: bool = False
    """The machine that the hosts are on must reach them. Then it has an address on an isolated network too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobNetwork:
    """How the hosts of a job reach each other and this machine."""

    own: NetworkPlan | None = None
    """The job's own network; None for the engine's default network."""
    unreachable: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen only on addresses that containers cannot reach."""
    joined: tuple[str, ...] = ()
    """Other networks of the engine that the hosts are on too, by name."""
    shared: str = ""
    """The network that a single host shares with other programs, with their addresses and ports: `host`, that of the
    engine's machine, or the network of a place. Empty: the host has its own addresses, and ports can be published."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostNames:
    """The names of one host, and its names for others."""

    hostname: str
    extra_hosts: Mapping[str, str] = field(default_factory=dict)
    """Addresses by name, in addition to the hosts on the job's network."""
    aliases: tuple[str, ...] = ()


_USUAL_BITS = 24
_NOT_HOSTS = 3
"""Addresses that hosts cannot have: those of the network, the gateway and broadcasts."""
_NAME = "host.docker.internal"
_LOOPBACK = "127.0.0.1"
_S3 = "AWS_ENDPOINT_URL_S3"
_HERE = {"localhost", "127.0.0.1", "::1", "0.0.0.0"}  # noqa: S104 - what people write for their own machine


def plan_network(
    name: str, subnet: str, hosts: Sequence[str], *, within: str, isolated: bool, manager: str = ""
) -> NetworkPlan:
    """Give each host an address of the subnet."""
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
    network = IPv4Network(subnet)
    return any(network.overlaps(IPv4Network(each)) for each in taken)


def shared_network(local: LocalSettings, engine: EngineFacts) -> str:
    """`JobNetwork.shared` of a job with these settings on this engine."""
    return engine.place.network if engine.place is not None else local.Network or ""


def endpoints_of(
    local: LocalSettings, engines: EnginesFacts, facts: NetworkFacts, network: NetworkPlan | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The variables of `Local.Endpoints`, and extra host names if the address of this machine cannot be used.

    An address is better than a name: AWS's libraries put the bucket's name in front of a host name.
    """
    if not local.Endpoints or (network is not None and network.isolated):
        return {}, {}
    engine = engines.first
    if shared_network(local, engine) and engine.local and not (engine.rootless or engine.desktop):
        return endpoint_variables(local.Endpoints, this_machine=_LOOPBACK), {}
    address = network.gateway if network is not None else facts.gateway
    if engine.rootless or engine.desktop or not engine.local or engines.shares or not address:
        # The gateway of such an engine is another machine or a network namespace.
        named = any(local_port(url) is not None for url in local.Endpoints.values())
        return endpoint_variables(local.Endpoints, this_machine=_NAME), {_NAME: HOST_GATEWAY} if named else {}
    return endpoint_variables(local.Endpoints, this_machine=address), {}


def endpoint_variables(endpoints: Mapping[str, str], *, this_machine: str) -> dict[str, str]:
    """`AWS_ENDPOINT_URL_<SERVICE>` for each. Services on this machine get the host name that containers know it by.

    A URL of S3 with a user and a password has a key for it: libraries want that in variables of its own.
    """
    found = {variable(service): _reached(url, this_machine) for service, url in endpoints.items()}
    parts = urlsplit(found.get(_S3, ""))
    if parts.username and parts.password:
        found[_S3] = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        found["AWS_ACCESS_KEY_ID"], found["AWS_SECRET_ACCESS_KEY"] = unquote(parts.username), unquote(parts.password)
    return found


def variable(service: str) -> str:
    """The variable of a service, for example AWS_ENDPOINT_URL_S3 for `s3`."""
    return f"AWS_ENDPOINT_URL_{service.upper().replace(' ', '_').replace('-', '_')}"


def local_port(url: str) -> int | None:
    """The port of a service on this machine; None if it is on another."""
    parts = urlsplit(url)
    if not _is_here(parts.hostname):
        return None
    return parts.port or (443 if parts.scheme == "https" else 80)


def _is_here(name: str | None) -> bool:
    return name is not None and (name in _HERE or name.startswith("127.") or name.endswith(".localhost"))


def _reached(url: str, this_machine: str) -> str:
    parts = urlsplit(url)
    if not _is_here(parts.hostname):
        return url
    user, at, _ = parts.netloc.rpartition("@")
    port = "" if parts.port is None else f":{parts.port}"
    return parts._replace(netloc=f"{user}{at}{this_machine}{port}").geturl()
