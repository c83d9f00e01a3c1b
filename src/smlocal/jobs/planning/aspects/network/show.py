"""The views of the network of a job and of the services that it reaches."""

from collections.abc import Iterator
from shlex import quote
from typing import Any

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.network.plan import variable
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload


def network_text(plan: JobPlan) -> str:
    """Where the hosts are."""
    return " and ".join((_own_text(plan), *plan.network.joined))


def _own_text(plan: JobPlan) -> str:
    if plan.network.shared:
        return f"on the network {plan.network.shared}, which is not its own"
    if plan.network.own is None:
        return "on the engine's default network"
    kind = "overlay network" if plan.network.own.manager else "network"
    own = f"on the job's own {kind} {plan.network.own.name}, {plan.network.own.subnet}"
    return f"{own}, isolated" if plan.network.own.isolated else own


def network_document(plan: JobPlan) -> dict[str, Any] | None:
    """The network in the document of a plan."""
    network = plan.network.own
    if network is None:
        return None
    return {
        "Name": network.name,
        "Subnet": network.subnet,
        "Isolated": network.isolated,
        "Manager": network.manager or None,
        "Addresses": dict(network.addresses),
    }


def network_commands(plan: JobPlan) -> Iterator[str]:
    """Docker's commands that make the network."""
    network = plan.network.own
    if network is None:
        return
    options = f"--subnet {quote(network.subnet)} --gateway {quote(network.gateway)}"
    if network.isolated:
        options += " --internal"
        # The engine's machine gets no address there. Podman does not know this option.
        options += (
            " --opt com.docker.network.bridge.inhibit_ipv4=true" if plan.engines.first.product == "docker" else ""
        )
    yield f'docker network create --label "smlocal.job=$job" {options} "by-hand-$job" >/dev/null'
    peers = (quote(f"{name}:{address}") for name, address in network.addresses.items())
    yield f"peers=({' '.join(f'--add-host {peer}' for peer in peers)})"


def naming_options(host: HostPlan) -> Iterator[str]:
    """Docker's options for the names of a container, if it has some of its own."""
    if host.names.hostname:
        yield f"--hostname {quote(host.names.hostname)}"
    yield from (f"--add-host {quote(f'{other}:{address}')}" for other, address in host.names.extra_hosts.items())


def place_differences(plan: JobPlan) -> Iterator[str]:
    """What docker commands need, and a place is not known to let pass."""
    if plan.engines.first.place is not None:
        yield f"Not known to work in {plan.engines.first.place.name}: docker cp, by which files get in and out."


def joining_commands(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    """Docker's commands that connect the container of a host to other networks."""
    for name in plan.network.joined:
        yield f'docker network connect {quote(name)} "by-hand-$job-{host.host.name}"'


def _many_hosts(plan: JobPlan, work: Workload) -> str | None:
    count, most = len(plan.hosts), work.local.MaxHosts
    if count <= most:
        return None
    memory, cpus = sum(each.host.memory_mib for each in plan.hosts) // 1024, sum(each.host.vcpus for each in plan.hosts)
    machine, on_the_service = plan.engines.machine, ""
    if cpus:
        on_the_service = f", with {cpus} vCPU and {memory} GiB in total on the service"
    return (
        f"{count} hosts exceed Local.MaxHosts ({most}), so a run is refused: they would be {count} containers "
        f"at once{on_the_service}; this machine has {machine.cpus} CPUs and "
        f"{machine.memory_mib // 1024} GiB, {machine.memory_mib // count} MiB for each"
    )


def _isolation(plan: JobPlan, work: Workload) -> str | None:
    if plan.network.own is None or not plan.network.own.isolated:
        return None
    who = "containers can reach only each other" if len(plan.hosts) > 1 else "the container can reach only itself"
    who += " and this machine" if plan.network.own.reached else ""
    return f"{who} (EnableNetworkIsolation); smlocal delivers the data"


def _endpoints(plan: JobPlan, work: Workload) -> str | None:
    if not work.local.Endpoints or (plan.network.own is not None and plan.network.own.isolated):
        return None
    names = [variable(service) for service in work.local.Endpoints]
    own = work.variables
    set_here = [name for name in names if name not in own]
    overruled = [name for name in names if name in own]
    said = [f"{', '.join(set_here)} set by Local.Endpoints; the service sets no such variable"] if set_here else []
    said += [f"{', '.join(overruled)} set by the request's Environment"] if overruled else []
    return "; ".join(said)


def _endpoints_on_loopback(plan: JobPlan, work: Workload) -> str | None:
    services = [service for service in work.local.Endpoints if service in plan.network.unreachable]
    if not services:
        return None
    urls = ", ".join(work.local.Endpoints[service] for service in services)
    return f"the server of {urls} listens only on 127.0.0.1, which containers cannot reach: bind it to 0.0.0.0"


def _endpoints_unused(plan: JobPlan, work: Workload) -> str | None:
    if not work.local.Endpoints or plan.network.own is None or not plan.network.own.isolated:
        return None
    return f"Local.Endpoints ({', '.join(work.local.Endpoints)}) is not passed in: EnableNetworkIsolation blocks it"


def _host_network(plan: JobPlan, work: Workload) -> str | None:
    if work.local.Network is None:
        return None
    engine = plan.engines.first
    if engine.elsewhere or engine.desktop:
        whose = f"the machine of the engine at {engine.address}, which is not this one"
    else:
        whose = "the rootless engine" if engine.rootless else "this machine"
    return (
        f"the container is on the network of {whose} (Local.Network: host) and shares 127.0.0.1 and all ports with it; "
        "a container of the service has a network of its own"
    )


def _joined(plan: JobPlan, work: Workload) -> str | None:
    return joined_text(plan)


def joined_text(plan: JobPlan) -> str | None:
    """The text about the networks that the hosts join."""
    if not plan.network.joined:
        return None
    return f"the hosts are on the network {' and '.join(plan.network.joined)} too; the service has no such network"


def _added_hosts(plan: JobPlan, work: Workload) -> str | None:
    return added_hosts_text(work.local)


def added_hosts_text(local: LocalSettings) -> str | None:
    """The text about added host names."""
    if not local.AddHosts:
        return None
    return f"added to /etc/hosts: {', '.join(local.AddHosts)}; the service adds no such names"


NETWORK_RULES = (
    NoteRule(id="max-hosts", says=_many_hosts, warning=True),
    NoteRule(id="endpoint-loopback", says=_endpoints_on_loopback, warning=True),
    NoteRule(id="isolation", says=_isolation),
    NoteRule(id="endpoints", says=_endpoints),
    NoteRule(id="endpoints-unused", says=_endpoints_unused),
    NoteRule(id="host-network", says=_host_network),
    NoteRule(id="networks-joined", says=_joined),
    NoteRule(id="hosts-added", says=_added_hosts),
)
