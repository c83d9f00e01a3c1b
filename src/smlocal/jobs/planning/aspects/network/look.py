"""The network of a job as it can be here: a free subnet, what listens on this machine, and making the network.

Networks that crashed jobs have left are removed.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.engine.engines import Engines
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, Engine, Network, Resource, ResourceKind
from smlocal.errors import EngineError, EngineNameInUseError, NetworkRangeError, SubnetInUseError
from smlocal.errors.of_jobs import HostNetworkError, IsolatedJobError, NetworkUnknownError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.engines.look import PlacedEngines
from smlocal.jobs.planning.aspects.engines.plan import engine_of_each
from smlocal.jobs.planning.aspects.network.plan import (
    NetworkFacts,
    NetworkPlan,
    candidates,
    local_port,
    overlaps,
    plan_network,
)
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.lease import supervised

if TYPE_CHECKING:
    from ipaddress import IPv4Network

    from smlocal.jobs.planning.workload import Workload
else:
    IPv4Network = at_use("ipaddress", "IPv4Network")

FOLDER_LABEL = "smlocal.folder"
"""A label of networks: the job's folder, which shows whether the job is still supervised."""
_NOT_JOINED = {"host", "none"}
"""The engine's networks that exclude all others."""
_TRIES = 20
"""Another job or user may take a subnet before the network is created."""
_SHOWN = 5
_ROUTES = "/proc/net/route"
_WIDEST_ROUTE = 8
"""Wider routes are ignored: some VPNs have a default route in two halves."""
_SOCKETS = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENING = "0A"
_LOOPBACK_4 = "7F"
_LOOPBACK_6 = ("00000000000000000000000001000000", "0000000000000000FFFF0000")


def choose_network(
    hosts: int,
    local: LocalSettings,
    placed: PlacedEngines,
    *,
    isolated: bool,
    run_id: str,
    remove_leftovers: bool,
) -> NetworkFacts:
    """Choose a free subnet if the job needs its own network. `remove_leftovers`: remove networks of crashed jobs."""
    if placed.first.facts.place is not None:
        return NetworkFacts()  # there is one network, and what it cannot do has been refused
    if local.Networks:
        check_networks(local.Networks, placed)
    endpoints, own = local.Endpoints, hosts > 1 or isolated
    if not own and not endpoints:
        return NetworkFacts()
    networks = [each for place in placed.each for each in place.engine.networks()]
    loopback_only: tuple[str, ...] = ()
    if endpoints:
        loopback_only = loopback_only_services(endpoints)
    if not own:
        return NetworkFacts(gateway=default_gateway(networks), loopback_only=loopback_only)
    if remove_leftovers:
        for place in placed.each:
            networks = remove_leftover_networks(place.engine, networks)
    near = any(place.facts.local and not place.facts.desktop for place in placed.each)
    within = local.NetworkRange
    subnet = free_subnet(networks, within=within, hosts=hosts, run_id=run_id, routes=near, overlay=bool(placed.manager))
    return NetworkFacts(subnet=subnet, loopback_only=loopback_only)


def refuse_contradictions(work: "Workload") -> None:
    """Refuse settings of a job that exclude each other. Nothing is asked, so that this can be told first."""
    local, hosts = work.local, len(work.hosts)
    if work.isolated:
        _refuse_isolation(local)
    if local.Network:
        used = engine_of_each([host.name for host in work.hosts], local.Engines or [""], local.Placement)
        _refuse_host_network(local, hosts, engines=len({*used.values()}))
    if hosts > 1 and next(candidates(local.NetworkRange, hosts, seed=0), None) is None:
        raise _no_room(local.NetworkRange, hosts)


def _refuse_isolation(local: LocalSettings) -> None:
    """Refuse what an isolated job cannot have: a way in or out."""
    settings = ("Network", "Networks", "AddHosts", "DebugPort")
    asked = [f"Local.{name}" for name in settings if getattr(local, name)]
    if asked:
        raise IsolatedJobError(
            f"{', '.join(asked)} and EnableNetworkIsolation exclude each other: an isolated job reaches only its hosts",
            remedy=[
                "Leave out --host-network, --network, --add-host and --wait-for-debugger,",
                "or run without isolation here: --set EnableNetworkIsolation=false",
            ],
        )


def _refuse_host_network(local: LocalSettings, hosts: int, *, engines: int) -> None:
    """Refuse what cannot be on the network of the engine's machine, which has one name, and each port once."""
    reasons = {
        f"{hosts} hosts: they would share all ports and the name of that machine": hosts > 1,
        f"{engines} engines: each is on the network of its own machine": engines > 1,
        "Local.Networks: a container on that network cannot join others": bool(local.Networks),
        "Local.Credentials: they are given to the container's address, and this one has none of its own": (
            local.Credentials != "none"
        ),
        "Local.DebugPort: everybody who reaches that machine could use the debugger": bool(local.DebugPort),
    }
    asked = [reason for reason, is_so in reasons.items() if is_so]
    if asked:
        raise HostNetworkError(
            "Local.Network: host is not possible with " + "; or with ".join(asked),
            remedy=[
                "Leave Local.Network out: hosts then have a network of their own,",
                "and reach services by --network NAME or --add-host NAME=ADDRESS.",
            ],
        )


def check_networks(names: Sequence[str], placed: PlacedEngines) -> None:
    """Look for the networks that a job joins on each of its engines."""
    for place in placed.each:
        there = sorted({each.name for each in place.engine.networks() if not each.default} - _NOT_JOINED)
        for name in names:
            if name not in there:
                raise NetworkUnknownError(
                    f"the engine at {place.facts.address} has no network {name!r} that a job can join",
                    details=[f"It has: {', '.join(there)}" if there else "It has no such network."],
                    remedy=[
                        "Start the service first: docker compose up -d makes FOLDER_default,",
                        f"or make the network: docker network create {quote(name)}",
                    ],
                )


def default_gateway(networks: list[Network]) -> str:
    """This machine's address on the engine's default network: the first one if the engine does not report it."""
    for network in networks:
        if network.default and network.subnets:
            return network.gateway or str(IPv4Network(network.subnets[0])[1])
    return ""


def free_subnet(
    networks: Sequence[Network],
    *,
    within: str,
    hosts: int,
    run_id: str,
    routes: bool = True,
    overlay: bool = False,
) -> str:
    """A subnet with enough addresses that no network has, and no route of this machine if `routes` is set."""
    taken = [subnet for each in networks for subnet in each.subnets]
    taken += routed_subnets() if routes else []
    room = False
    for subnet in candidates(within, hosts, seed=int(run_id, 16), overlay=overlay):
        room = True
        if not overlaps(subnet, taken):
            return subnet
    if not room:
        raise _no_room(within, hosts)
    blocking = [f"{each.name}: {', '.join(each.subnets)}" for each in networks if overlaps(within, each.subnets)]
    raise NetworkRangeError(
        f"no free addresses for the job's network in {within}",
        details=[*blocking[:_SHOWN], *([f"and {len(blocking) - _SHOWN} more"] if len(blocking) > _SHOWN else [])]
        or ["by a route of this machine: ip route"],
        remedy=[
            "Use another range of private addresses: Local.NetworkRange, such as 10.99.0.0/16.",
            "Remove unused networks: docker network prune",
        ],
    )


def _no_room(within: str, hosts: int) -> NetworkRangeError:
    return NetworkRangeError(
        f"Local.NetworkRange {within} has no room for {hosts} hosts",
        remedy=[f"Use a larger range: one address per host ({hosts}), and three for the network itself."],
    )


def remove_leftover_networks(engine: Engine, networks: Sequence[Network]) -> list[Network]:
    """Remove the networks of crashed jobs that have no containers; return the others."""
    orphans = [
        each for each in networks if FOLDER_LABEL in each.labels and not _may_be_supervised(each.labels[FOLDER_LABEL])
    ]
    if not orphans:
        return list(networks)
    in_use = {resource.labels.get(RUN_LABEL) for resource in engine.owned() if resource.kind is ResourceKind.CONTAINER}
    removed = set()
    for each in orphans:
        if each.labels.get(RUN_LABEL) in in_use:
            continue
        with suppress(EngineError):  # it may be in use after all
            engine.remove(Resource(kind=ResourceKind.NETWORK, id=each.id))
            removed.add(each.id)
    return [each for each in networks if each.id not in removed]


def _may_be_supervised(folder: str) -> bool:
    """True unless it is certain that the job in this folder has no supervisor."""
    home = os.path.dirname(os.path.dirname(folder))
    try:
        # A home that does not exist here may be that of another machine, or of a container with other mounts.
        if not stat.S_ISDIR(os.stat(home).st_mode) or not os.access(home, os.R_OK | os.X_OK):
            return True
        os.stat(folder)
    except FileNotFoundError:
        return not os.path.isdir(home)
    except OSError:
        return True
    return not os.access(folder, os.R_OK) or supervised(folder)


def make_network(engines: Engines, plan: JobPlan) -> JobPlan:
    """Create the job's network. If its subnet was taken in the meantime, the returned plan has another one.

    That network has another name too. The subnet may be that of a network which a killed supervisor of this job has
    asked for: Docker would make both, and then not start containers, because the name is ambiguous.
    """
    network = plan.network.own
    if network is None:
        return plan
    engine, name = engines.at(network.manager), network.name
    network_labels = {JOB_LABEL: plan.name, RUN_LABEL: plan.run_id, FOLDER_LABEL: plan.job_directory}
    for attempt in range(_TRIES):
        try:
            engine.create_network(
                network.name,
                network_labels,
                subnet=network.subnet,
                gateway=network.gateway,
                isolated=network.isolated,
                reached=network.reached,
                overlay=bool(network.manager),
            )
        except (SubnetInUseError, EngineNameInUseError):
            if attempt == _TRIES - 1:
                raise
        else:
            return plan
        plan = on_network(plan, f"{name}-{attempt + 2}", _another_subnet(engines, network, plan.run_id, attempt))
        network = plan.network.own or network
    return plan


def _another_subnet(engines: Engines, network: NetworkPlan, run_id: str, attempt: int) -> str:
    """Another subnet that seems free, a new one each time: the engine may refuse subnets that it does not list."""
    taken = [subnet for engine in engines for each in engine.networks() for subnet in each.subnets]
    begun = int(run_id, 16) + attempt + 1
    others = candidates(network.within, len(network.addresses), seed=begun, overlay=bool(network.manager))
    found = (each for each in others if not overlaps(each, taken))
    return next(islice(found, 1), network.subnet)


def on_network(plan: JobPlan, name: str, subnet: str) -> JobPlan:
    """The plan with a network of this name and addresses of this subnet, if the first one cannot be made."""
    old = plan.network.own
    if old is None:
        return plan
    new = plan_network(name, subnet, list(old.addresses), within=old.within, isolated=old.isolated, manager=old.manager)
    new = replace(new, reached=old.reached)
    hosts = []
    for host in plan.hosts:
        # Local.Endpoints on this machine have the address of the gateway.
        environment = {
            name: value.replace(old.gateway, new.gateway) if name.startswith("AWS_ENDPOINT_URL_") else value
            for name, value in host.environment.items()
        }
        hosts.append(replace(host, environment=environment))
    return replace(plan, network=replace(plan.network, own=new), hosts=tuple(hosts))


def routed_subnets(table: str = _ROUTES) -> list[str]:
    """The subnets of all routes but the default one."""
    try:
        with open(table, encoding="ascii") as file:
            lines = file.read().splitlines()[1:]
    except OSError:  # not Linux
        return []
    found = (_subnet(line.split()) for line in lines)
    return [str(subnet) for subnet in found if subnet.prefixlen >= _WIDEST_ROUTE]


def _subnet(fields: list[str]) -> IPv4Network:
    destination, mask = (int.from_bytes(bytes.fromhex(fields[column]), "little") for column in (1, 7))
    return IPv4Network((destination, mask.bit_count()))


def loopback_only_services(endpoints: Mapping[str, str], tables: Sequence[str] = _SOCKETS) -> tuple[str, ...]:
    """Those of `Local.Endpoints` that listen only there."""
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
