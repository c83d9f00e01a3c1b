"""The Docker API's documents about networks."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.engine.interface import Network
from smlocal.planning.facts import Product

_IN_USE: Final = ("overlap", "already used on the host")
"""How engines say that some address of a subnet is taken."""
_DEFAULTS: Final = {"bridge", "podman"}
MISCOUNTED: Final = (
    "the engine still counts removed containers on it (a bug of Docker before 28.1); after a restart of Docker the "
    "next job with a network removes it"
)
"""Docker lists who is on a network and counts them besides; the count alone decides, and only a start puts it right."""


def network_document(
    name: str, labels: Mapping[str, str], *, subnet: str, gateway: str, isolated: bool, product: Product
) -> dict[str, Any]:
    """Write the body of a network's creation."""
    document: dict[str, Any] = {
        "CheckDuplicate": True,
        "Driver": "bridge",
        "IPAM": {"Config": [{"Subnet": subnet, "Gateway": gateway}]},
        "Internal": isolated,
        "Labels": dict(labels),
        "Name": name,
    }
    if isolated and product == "docker":
        # An internal network has no way out, but Docker still gives its own machine an address on it, where containers
        # reach every service that listens there. So does Podman, which has no option against it: a note says so.
        document["Options"] = {"com.docker.network.bridge.inhibit_ipv4": "true"}
    return document


def network(document: Mapping[str, Any]) -> Network:
    """Read a network as it is listed."""
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
    """True for an engine's refusal of a network whose addresses are another's."""
    return any(words in message for words in _IN_USE)


def is_miscounted(message: str, document: Mapping[str, Any]) -> bool:
    """True where a network is refused to go on account of containers that its own document does not name."""
    return "active endpoints" in message and not document.get("Containers")
