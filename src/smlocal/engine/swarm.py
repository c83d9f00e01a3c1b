"""Whether several engines form one swarm, and which of them makes networks. Swarm itself does the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from smlocal.engine.client import Client
from smlocal.engine.interface import SwarmMember
from smlocal.errors import EngineError, EngineTwiceError, NotInSwarmError, SwarmManagerError, SwarmsDifferError

_ACTIVE: Final = "active"


def read_member(client: Client) -> SwarmMember:
    """Read `/info`, and of a manager the list of nodes."""
    member = swarm_member(client.endpoint.address, client.read("/info"))
    if not member.is_manager:
        return member
    try:
        return replace(member, nodes=frozenset(node["ID"] for node in client.read("/nodes")))
    except EngineError as error:
        if not error.status:
            raise
        return replace(member, trouble=error.sentence)


def swarm_member(address: str, info: Mapping[str, Any]) -> SwarmMember:
    """From the answer of `/info`. An engine without swarms, such as Podman, is inactive."""
    swarm = info.get("Swarm") or {}
    return SwarmMember(
        address=address,
        node_id=swarm.get("NodeID") or "",
        state=swarm.get("LocalNodeState") or "inactive",
        is_manager=bool(swarm.get("ControlAvailable")),
    )


def check_swarm(members: Sequence[SwarmMember]) -> str:
    """The address of a manager of the swarm that all of them are in; pure."""
    _check_distinct(members)
    outside = [each for each in members if each.state != _ACTIVE]
    if outside:
        raise NotInSwarmError(
            f"the engine at {outside[0].address} is not in a swarm, and a job on several engines needs one",
            details=[f"{each.address}: {each.state}" for each in outside],
            remedy=[
                "On one engine: docker swarm init. On the others: the docker swarm join command that it prints.",
                "Podman has no swarm: a job can use only one Podman engine.",
            ],
        )
    asked = [each for each in members if each.is_manager]
    managers = [each for each in asked if each.nodes is not None]
    if not managers:
        raise SwarmManagerError(
            "no manager of the swarm is among the engines of the job"
            if not asked
            else "the swarm of the job's engines cannot be managed now",
            details=[f"{each.address}: {each.trouble}" for each in asked],
            remedy=[
                "Networks across engines are made on a manager. Add one to Local.Engines (it needs no hosts),",
                "or make one of these engines a manager: docker node promote NODE",
            ]
            if not asked
            else ["Most managers of a swarm must be reachable: docker node ls on one of them."],
        )
    manager = managers[0]
    strangers = [each for each in members if each.node_id not in (manager.nodes or ())]
    if strangers:
        raise SwarmsDifferError(
            f"the engines at {manager.address} and {strangers[0].address} are in different swarms",
            remedy=["Let them join one swarm: docker swarm leave on one, then docker swarm join."],
        )
    return manager.address


def _check_distinct(members: Sequence[SwarmMember]) -> None:
    seen: dict[str, str] = {}
    for each in members:
        other = seen.setdefault(each.node_id, each.address) if each.node_id else each.address
        if other != each.address:
            raise EngineTwiceError(
                f"the engines at {other} and {each.address} are the same one",
                remedy=["Name each engine once."],
            )
