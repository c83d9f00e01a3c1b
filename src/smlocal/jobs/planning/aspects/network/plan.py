"""The network of a job, and how its hosts reach each other and this machine."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkFacts:
    """The possible networks of a job. Empty texts: not needed."""

    subnet: str = ""
    """A free subnet for the job's own network."""
    gateway: str = ""
    """The address at which containers on the default network reach this machine."""
    loopback_only: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen only on addresses that containers cannot reach."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkPlan:
    """The private network of one job."""

    name: str
    within: str
    """The range that contains the subnet."""
    subnet: str
    """`198.18.7.0/24`"""
    gateway: str
    """The address of the engine's machine; unused on an isolated network."""
    addresses: Mapping[str, str]
    """By host name."""
    manager: str = ""
    """For a network across several engines: the address of the engine that makes and removes it."""
    isolated: bool = False
    """Hosts reach only each other, not even the machine that they are on."""
    reached: bool = False
    """The machine that the hosts are on must reach them. Then it has an address on an isolated network too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobNetwork:
    """How the hosts of a job reach each other and this machine."""

    own: NetworkPlan | None = None
    """The job's own network; None for the engine's default network."""
    unreachable: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen only on addresses that containers cannot reach."""
    joined: tuple[str, ...] = ()
    """Other networks of the engine that the hosts are on too, by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostNames:
    """The names of one host, and its names for others."""

    hostname: str
    extra_hosts: Mapping[str, str] = field(default_factory=dict)
    """Addresses by name, in addition to the hosts on the job's network."""
    aliases: tuple[str, ...] = ()
