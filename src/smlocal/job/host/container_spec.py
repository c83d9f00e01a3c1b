"""The container of a host, from its plan."""

from collections.abc import Mapping

from smlocal.engine.interface import ContainerSpec, Mount
from smlocal.planning.model import HostPlan, JobPlan


def container_spec(
    plan: JobPlan,
    host: HostPlan,
    *,
    labels: Mapping[str, str],
    mounts: tuple[Mount, ...],
    environment: Mapping[str, str] = {},
) -> ContainerSpec:
    """The container of a host. `environment`: variables that those of the plan override."""
    network, program = plan.network, host.program or plan
    return ContainerSpec(
        name=host.container,
        image=program.image,
        labels=labels,
        entrypoint=program.entrypoint,
        command=program.command,
        environment={**environment, **host.environment},
        hostname=host.hostname,
        mounts=mounts,
        extra_hosts={**(network.addresses if network is not None else {}), **host.extra_hosts},
        network=network.name if network is not None else None,
        address=network.addresses[host.host.name] if network is not None else "",
        # Nobody listens there: an engine's own DNS forwards, with some engines even from an isolated network.
        name_servers=("127.0.0.1",) if network is not None and network.isolated else (),
        aliases=() if plan.names_after else host.aliases,
        devices=host.devices,
        runtime=host.runtime,
        device_files=host.neuron,
        limits=host.limits,
    )
