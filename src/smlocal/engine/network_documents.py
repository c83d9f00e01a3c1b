"""The Docker API's documents about networks."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.engine.interface import Network
from smlocal.planning.facts import Product

_IN_USE: Final = ("overlap", "already used on the host")
"""Parts of the engines' messages about a subnet in use."""
_DEFAULTS: Final = {"bridge", "podman"}
MISCOUNTED: Final = (
    "the engine still counts removed containers on it (a bug of Docker before 28.1); after a restart of Docker the "
    "next job with a network removes it"
)
"""Docker has a list and a count of a network's containers. Only a restart corrects a wrong count."""


def network_document(
    name: str, labels: Mapping[str, str], *, subnet: str, gateway: str, isolated: bool, product: Product
) -> dict[str, Any]:
    """The body of a request that creates a network."""
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


def network(document: Mapping[str, Any]) -> Network:
    """From the list of networks."""
    ranges = [each for each in (document.get("IPAM") or {}).get("Config") or () if ":" not in each.get("Subnet", "")]
    return Network(
        id=document.get("Id") or "",
        name=document.get("Name") or "",
        subnets=tuple(each["Subnet"] for each in ranges if each.get("Subnet")),
        gateway=next((each["Gateway"].partition("/")[0] for each in ranges if each.get("Gateway")), ""),
        labels=document.get("Labels") or {},
        default=document.get("Name") in _DEFAULTS,
    )


def is_subnet_in_use(message: str) -> bool:
    """True if a network was refused because its addresses are in use."""
    return any(words in message for words in _IN_USE)


def is_miscounted(message: str, document: Mapping[str, Any]) -> bool:
    """True if a network cannot be removed because of containers that its document does not contain."""
    return "active endpoints" in message and not document.get("Containers")
