"""The networks of an engine, bridges and those of a swarm: their kinds, creating one, and when one is gone."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.base.regex import regex
from smlocal.engine import podman
from smlocal.engine.client import Client
from smlocal.engine.facts import Product
from smlocal.engine.http import Call, quote
from smlocal.engine.interface import Network, SwarmMember
from smlocal.errors import (
    EngineError,
    EngineNameInUseError,
    EngineTwiceError,
    NetworkAttachError,
    NetworkGoneError,
    NotInSwarmError,
    SubnetInUseError,
    SwarmManagerError,
    SwarmsDifferError,
)

if TYPE_CHECKING:
    from ipaddress import IPv4Network, ip_network
else:
    IPv4Network = at_use("ipaddress", "IPv4Network")
    ip_network = at_use("ipaddress", "ip_network")

# Also connecting a container to further ones: Docker before 25 makes a container on one only.

_ABSENT = 404
_CONFLICT = 409
_IN_USE: Final = ("overlap", "already used on the host")
"""Parts of the engines' messages about a subnet in use."""
_DEFAULTS: Final = {"bridge", "podman"}
_WAIT_SECONDS = 20.0
"""As long as Docker waits for the swarm."""
_SURE_SECONDS = 1.0
_PAUSE_SECONDS = 0.01
_GONE_SECONDS = 20.0
"""How long an engine may have a network that its swarm has removed. It takes 0.2 s, or longer on a busy machine."""
_REMEDY: Final = (
    "the engines of the swarm must reach each other at the ports 2377/tcp, 7946/tcp and udp, and 4789/udp; "
    "docker node ls on a manager shows which are there"
)
_ATTACHING: Final = regex(r"attaching to network failed|Could not attach to network .*: context deadline exceeded")
_GONE: Final = regex(r"Could not attach to network .* code = NotFound|^network .* not found")


def networks(client: Client) -> list[Network]:
    """All networks of the engine."""
    return [_network(document) for document in list_networks(client)]


def list_networks(client: Client, filters: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """The networks in Docker's form. `filters` are the parameter of that name, if any."""
    if client.product == "podman":
        return podman.list_networks(client, filters or {})
    found: list[dict[str, Any]] = client.read("/networks", parameters=filters)
    return found


def _network(document: Mapping[str, Any]) -> Network:
    ranges = [each for each in (document.get("IPAM") or {}).get("Config") or () if ":" not in each.get("Subnet", "")]
    return Network(
        id=document.get("Id") or "",
        name=document.get("Name") or "",
        subnets=tuple(each["Subnet"] for each in ranges if each.get("Subnet")),
        gateway=next((each["Gateway"].partition("/")[0] for each in ranges if each.get("Gateway")), ""),
        labels=document.get("Labels") or {},
        default=document.get("Name") in _DEFAULTS,
    )


def create_network(
    client: Client,
    name: str,
    labels: Mapping[str, str],
    *,
    subnet: str,
    gateway: str,
    isolated: bool,
    overlay: bool,
    reached: bool = False,
) -> None:
    """Create a bridge or an overlay. Docker notices a name in use only when that network is complete."""
    if not overlay:
        document = _bridge_document(name, labels, client.product, subnet=subnet, gateway=gateway, isolated=isolated)
        if reached:
            document.pop("Options", None)
        _create(client, document)
        return
    document = overlay_document(name, labels, subnet=subnet, gateway=gateway, isolated=isolated)
    await_subnet(client, _create(client, document)["Id"], subnet)


def await_removal(client: Client, path: str) -> None:
    """Wait until the network at this path is gone, once its removal has been accepted.

    Only a swarm needs the time. Any other network that is there by now is a new one of the same name.
    """
    if client.product == "podman":
        return
    with client.ask("GET", path, fine={_ABSENT}) as answer:
        if answer.status == _ABSENT or answer.json().get("Scope") != "swarm":
            return
    await_gone(client, path)


def _create(client: Client, document: Mapping[str, Any]) -> Any:
    """Returns the engine's answer."""
    try:
        return client.post("/networks/create", document)
    except EngineError as error:
        if error.status and any(words in error.sentence for words in _IN_USE):
            raise SubnetInUseError(error.sentence, status=error.status) from error
        if error.status == _CONFLICT or podman.is_name_in_use(error):
            raise EngineNameInUseError(error.sentence, status=error.status) from error
        raise


def _bridge_document(
    name: str, labels: Mapping[str, str], product: Product, *, subnet: str, gateway: str, isolated: bool
) -> dict[str, Any]:
    """The body of a request that creates a network of one engine."""
    document: dict[str, Any] = {
        "CheckDuplicate": True,
        "Driver": "bridge",
        "IPAM": {"Config": [{"Subnet": subnet, "Gateway": gateway}]},
        "Internal": isolated,
        "Labels": dict(labels),
        "Name": name,
    }
    if isolated and product == "docker":
        # Docker gives its machine an address even on an internal network, so containers could reach services there.
        # So does Podman, which has no option against it; a note says so.
        document["Options"] = {"com.docker.network.bridge.inhibit_ipv4": "true"}
    return document


def overlay_document(
    name: str, labels: Mapping[str, str], *, subnet: str, gateway: str, isolated: bool
) -> dict[str, Any]:
    """The body of a request that creates a network of a swarm, on which containers of all its engines can be.

    The swarm takes an address on it for each engine. It takes them from the first half of the subnet.
    """
    first_half = next(IPv4Network(subnet).subnets())
    return {
        "Attachable": True,
        "CheckDuplicate": True,
        "Driver": "overlay",
        "IPAM": {"Config": [{"Subnet": subnet, "Gateway": gateway, "IPRange": str(first_half)}]},
        "Internal": isolated,
        "Labels": dict(labels),
        "Name": name,
        "Scope": "swarm",
    }


def await_subnet(client: Client, network: str, subnet: str) -> None:
    """Wait until a new network has its subnet, which takes milliseconds. If it does not get it, it is removed.

    `SubnetInUseError`: another network has it.
    """
    try:
        _await_subnet(client, network, subnet)
    except BaseException:
        client.tell("DELETE", f"/networks/{network}", call=Call.ACTION)
        raise


def _await_subnet(client: Client, network: str, subnet: str) -> None:
    """Look again and again.

    A swarm accepts every subnet, and then leaves a network whose subnet is taken without one. An engine lists networks
    for a moment longer than they have their subnets.
    """
    begun = time.monotonic()
    while not _subnets(client.read(f"/networks/{network}")):
        waited = time.monotonic() - begun
        if waited > _SURE_SECONDS and (blocking := _blocking(client, network, subnet)):
            raise SubnetInUseError(f"the network {blocking} of the swarm has addresses of {subnet}")
        if waited > _WAIT_SECONDS:
            raise EngineError(f"the swarm gave its new network no addresses within {_WAIT_SECONDS:.0f} s")
        time.sleep(_PAUSE_SECONDS)


def _subnets(document: Mapping[str, Any]) -> list[str]:
    return [each["Subnet"] for each in document["IPAM"]["Config"] or ()]


def _blocking(client: Client, network: str, subnet: str) -> str:
    """The name of another network of the swarm that has addresses of this subnet."""
    wanted = ip_network(subnet)
    for other in client.read("/networks"):
        if other["Scope"] == "swarm" and other["Id"] != network:
            for each in map(ip_network, _subnets(other)):
                if each.version == wanted.version and each.overlaps(wanted):
                    return str(other["Name"])
    return ""


def attachment_error(error: EngineError) -> EngineError | None:
    """The error of a start as one of its own class if the container could not be attached to its network."""
    if _GONE.search(error.sentence):
        return NetworkGoneError(error.sentence, status=error.status)
    if _ATTACHING.search(error.sentence):
        return NetworkAttachError(error.sentence, status=error.status, remedy=(_REMEDY,))
    return None


def await_gone(client: Client, path: str) -> None:
    """Wait until this engine has forgotten the network at this path; `EngineError` if it does not.

    A manager answers before its own part of the network is removed. A worker removes its part after its last container
    has left, when a manager says so.
    """
    until = time.monotonic() + _GONE_SECONDS
    while True:
        with client.ask("GET", path, fine={_ABSENT}) as answer:
            answer.read()
            if answer.status == _ABSENT:
                return
        if time.monotonic() > until:
            raise EngineError(
                f"the engine still has it after {_GONE_SECONDS:.0f} s; a swarm removes it when no container is on it",
                status=_CONFLICT,
            )
        time.sleep(_PAUSE_SECONDS)


def join_networks(client: Client, container: str, names: Sequence[str]) -> None:
    """Connect a container, before its start, to further networks. It is removed if that fails."""
    try:
        for name in names:
            client.tell("POST", f"/networks/{quote(name)}/connect", document={"Container": container}, call=Call.ACTION)
    except EngineError:
        with suppress(EngineError):
            client.tell("DELETE", f"/containers/{container}", parameters={"force": "1", "v": "1"}, fine={_ABSENT})
        raise


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
