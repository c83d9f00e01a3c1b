"""The addresses of the hosts of a job, and of the services of this machine that they reach (`Local.Endpoints`).

smlocal chooses the addresses before the start and writes them to each host's `/etc/hosts`: the engine's DNS knows a
container only after it has started.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.engine.facts import HOST_GATEWAY
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts
from smlocal.jobs.planning.aspects.network.plan import NetworkFacts, NetworkPlan

if TYPE_CHECKING:
    from ipaddress import IPv4Network
    from urllib.parse import unquote, urlsplit
else:
    IPv4Network = at_use("ipaddress", "IPv4Network")
    unquote = at_use("urllib.parse", "unquote")
    urlsplit = at_use("urllib.parse", "urlsplit")

_USUAL_BITS = 24
_NOT_HOSTS = 3
"""Addresses that hosts cannot have: those of the network, the gateway and broadcasts."""
_NAME = "host.docker.internal"
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


def endpoints_of(
    local: LocalSettings, engines: EnginesFacts, facts: NetworkFacts, network: NetworkPlan | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The variables of `Local.Endpoints`, and extra host names if the address of this machine cannot be used.

    An address is better than a name: AWS's libraries put the bucket's name in front of a host name.
    """
    if not local.Endpoints or (network is not None and network.isolated):
        return {}, {}
    engine = engines.first
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
