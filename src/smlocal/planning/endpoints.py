"""How the containers of a job are told of services that stand in for AWS's."""

from collections.abc import Mapping

from smlocal.jobfile.local_settings import LocalSettings
from smlocal.planning.facts import Facts
from smlocal.planning.network import NetworkPlan

_NAME = "host.docker.internal"
_BY_ENGINE = "host-gateway"
"""What the engine replaces with the address of the machine that it serves."""


def endpoints_of(
    local: LocalSettings, facts: Facts, network: NetworkPlan | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The variables of `Local.Endpoints`, and a name for this machine where its address will not do.

    The address is better: of a name AWS's libraries make others, one for each bucket.
    """
    if not local.Endpoints or (network is not None and network.isolated):
        return {}, {}
    from smlocal.contract.endpoints import endpoint_variables, local_port  # few jobs have any

    engine = facts.engine
    address = network.gateway if network is not None else facts.gateway
    if engine.rootless or engine.desktop or not engine.local or not address:
        # Such an engine's gateway is that of another machine, or of a network namespace.
        named = any(local_port(url) is not None for url in local.Endpoints.values())
        return endpoint_variables(local.Endpoints, this_machine=_NAME), {_NAME: _BY_ENGINE} if named else {}
    return endpoint_variables(local.Endpoints, this_machine=address), {}
