"""How a member of a request is handled."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.contract.support import Support
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One member, or a structure whose members are all handled alike."""

    support: Support
    note: str
    refused: Mapping[str, str] = field(default_factory=dict)
    """Values that are refused, as patterns, with the reason."""


def emulated(note: str, refused: Mapping[str, str] | None = None) -> Row:
    """A row of the table."""
    return Row(support=Support.EMULATED, note=note, refused=refused or {})


def recorded(note: str) -> Row:
    """A row of the table."""
    return Row(support=Support.RECORDED, note=note)


def refused(note: str) -> Row:
    """A row of the table."""
    return Row(support=Support.REFUSED, note=note)


NO_TPU = "There are no TPUs here."
NO_ENCRYPTION = "Nothing is encrypted here."
NO_NETWORK = "Replicas are on a network of this engine."
NO_WEB_ACCESS = "smlocal shell opens a shell in a replica."
NO_PACKAGES = "Packages are not installed into an image of the vendor; give an image with the program."
MACHINE = "Decides how many GPUs a replica gets; with Local.EnforceInstanceLimits CPU and memory are limited."
ACCELERATOR = "GPUs of the replica."
