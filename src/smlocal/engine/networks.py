"""The networks of an engine: what they are, creating one, and when one is gone."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.engine import podman
from smlocal.engine.client import Client
from smlocal.engine.facts import Product
from smlocal.engine.interface import Network
from smlocal.errors import EngineError, EngineNameInUseError, SubnetInUseError

_ABSENT = 404
_CONFLICT = 409
_IN_USE: Final = ("overlap", "already used on the host")
"""Parts of the engines' messages about a subnet in use."""
_DEFAULTS: Final = {"bridge", "podman"}


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
    client: Client, name: str, labels: Mapping[str, str], *, subnet: str, gateway: str, isolated: bool, overlay: bool
) -> None:
    """Create a bridge or an overlay. Docker notices a name in use only when that network is complete."""
    if not overlay:
        _create(
            client, _bridge_document(name, labels, client.product, subnet=subnet, gateway=gateway, isolated=isolated)
        )
        return
    from smlocal.engine.overlay import await_subnet, overlay_document  # most jobs have one engine

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
    from smlocal.engine.overlay import await_gone  # most jobs have one engine

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
