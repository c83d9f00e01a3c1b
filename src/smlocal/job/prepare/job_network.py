"""A job's own network: finding a free subnet, creating it, and removing those that crashed jobs have left."""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from smlocal.engine.engines import Engines
from smlocal.engine.interface import RUN_LABEL, Engine, Network, Resource, ResourceKind
from smlocal.errors import EngineError, EngineNameInUseError, NetworkRangeError, SubnetInUseError
from smlocal.job.containers import labels
from smlocal.job.prepare.route_table import routed_subnets
from smlocal.planning.model import JobPlan
from smlocal.planning.network import NetworkPlan, candidates, overlaps
from smlocal.planning.plan_changes import on_network
from smlocal.store.lease import supervised

FOLDER_LABEL = "smlocal.folder"
"""A label of networks: the job's folder, which shows whether the job is still supervised."""
_TRIES = 20
"""Another job or user may take a subnet before the network is created."""
_SHOWN = 5


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
        raise NetworkRangeError(
            f"Local.NetworkRange {within} has no room for {hosts} hosts",
            remedy=[f"Use a larger range: one address per host ({hosts}), and three for the network itself."],
        )
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
    network = plan.network
    if network is None:
        return plan
    engine, name = engines.at(network.manager), network.name
    network_labels = {**labels(plan), FOLDER_LABEL: plan.job_directory}
    for attempt in range(_TRIES):
        try:
            engine.create_network(
                network.name,
                network_labels,
                subnet=network.subnet,
                gateway=network.gateway,
                isolated=network.isolated,
                overlay=bool(network.manager),
            )
        except (SubnetInUseError, EngineNameInUseError):
            if attempt == _TRIES - 1:
                raise
        else:
            return plan
        plan = on_network(plan, f"{name}-{attempt + 2}", _another_subnet(engines, network, plan.run_id, attempt))
        network = plan.network or network
    return plan


def _another_subnet(engines: Engines, network: NetworkPlan, run_id: str, attempt: int) -> str:
    """Another subnet that seems free, a new one each time: the engine may refuse subnets that it does not list."""
    taken = [subnet for engine in engines for each in engine.networks() for subnet in each.subnets]
    begun = int(run_id, 16) + attempt + 1
    others = candidates(network.within, len(network.addresses), seed=begun, overlay=bool(network.manager))
    found = (each for each in others if not overlaps(each, taken))
    return next(islice(found, 1), network.subnet)
