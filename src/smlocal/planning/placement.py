"""On which engine each host runs."""

from collections.abc import Mapping, Sequence

from smlocal.contract.placement import PlacementChoice


def engine_of_each(hosts: Sequence[str], engines: Sequence[str], placement: PlacementChoice) -> Mapping[str, str]:
    """The engine of each host, as it is named in `engines`; they are spread in turn unless the placement names them.

    A placement that names engines has been validated: it names one for each host.
    """
    if not isinstance(placement, str):
        return {host: placement[host] for host in hosts}
    return {host: engines[index % len(engines)] for index, host in enumerate(hosts)}
