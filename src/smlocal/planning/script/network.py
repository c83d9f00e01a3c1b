"""The network of the job's own: how it is made, and what a container is told to be on it."""

from collections.abc import Iterator

from smlocal.planning.model import HostPlan, JobPlan


def make_network(plan: JobPlan) -> Iterator[str]:
    """Make it, and keep in a variable what every container is told of the others."""
    network = plan.network
    if network is None:
        return
    words = ['docker network create --label "$L"', f"--subnet {network.subnet} --gateway {network.gateway}"]
    if network.isolated:
        words.append("--internal")
        words += ["--opt com.docker.network.bridge.inhibit_ipv4=true"] if plan.engine.product == "docker" else []
    yield f'{" ".join(words)} "by-hand-$J" >/dev/null'
    known = " ".join(f"--add-host {name}:{address}" for name, address in network.addresses.items())
    yield f'PEERS="{known}"'


def on_network(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    """The words of `docker create` for one host."""
    network = plan.network
    if network is None:
        return
    yield '--network "by-hand-$J"'
    yield from (f"--network-alias {alias}" for alias in host.aliases)
    yield f"--ip {network.addresses[host.host.name]} $PEERS"
    if network.isolated:
        yield "--dns 127.0.0.1"
