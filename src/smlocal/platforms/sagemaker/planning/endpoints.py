"""The environment variables and host names for `Local.Endpoints`."""

from collections.abc import Mapping

from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.facts import Facts
from smlocal.planning.network import NetworkPlan

_NAME = "host.docker.internal"
_BY_ENGINE = "host-gateway"
"""The engine replaces this word with the address of its machine."""


def endpoints_of(
    local: LocalSettings, facts: Facts, network: NetworkPlan | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The variables of `Local.Endpoints`, and extra host names if the address of this machine cannot be used.

    An address is better than a name: AWS's libraries put the bucket's name in front of a host name.
    """
    if not local.Endpoints or (network is not None and network.isolated):
        return {}, {}
    from smlocal.contract.endpoints import endpoint_variables, local_port  # few jobs have any

    engine = facts.engine
    address = network.gateway if network is not None else facts.gateway
    if engine.rootless or engine.desktop or not engine.local or facts.shares or not address:
        # The gateway of such an engine is another machine or a network namespace.
        named = any(local_port(url) is not None for url in local.Endpoints.values())
        return endpoint_variables(local.Endpoints, this_machine=_NAME), {_NAME: _BY_ENGINE} if named else {}
    return endpoint_variables(local.Endpoints, this_machine=address), {}
