"""How containers that answer requests are reached, what they read, and the limits of their answers."""

from typing import Literal

from smlocal.base.quick_dataclass import dataclass

ModelForm = Literal["archive", "folder", "object"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelPlan:
    """Data that a container that answers requests finds in a folder."""

    name: str
    uri: str
    """As written in the request."""
    target: str
    """The folder in the container."""
    form: ModelForm
    """An archive to be unpacked, all files of a folder, or one file."""
    path: str = ""
    """Where it is on this machine; empty: it is downloaded from its URI."""
    folder: str = ""
    """The folder that is mounted; empty: not decided yet."""

    @property
    def is_brought(self) -> bool:
        """True if the folder has to be filled before the start."""
        return self.folder != self.path

    @property
    def writable(self) -> bool:
        """True if the container may change it: what was unpacked is a copy."""
        return self.form == "archive"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerPlan:
    """One container that answers requests."""

    variant: str
    """The group of containers that it belongs to."""
    instance: int
    """Its copy of the group, counted from 1."""
    called: str
    """Its name in messages."""
    number: int
    """Its place in the copy, counted from 1."""
    port: int
    """Where it listens."""
    published: int = 0
    """The port of 127.0.0.1 in front of it; 0: it is reached at its own address."""
    startup: float
    """Seconds until it must have answered a first ping."""
    models: tuple[ModelPlan, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantPlan:
    """A group of containers, and its part of the requests."""

    name: str
    weight: float
    direct: bool = False
    """True if a request names the container that it is for. Else the answer of one is the request of the next."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingPlan:
    """What a job with containers that answer requests needs."""

    variants: tuple[VariantPlan, ...]
    ping: float
    """Seconds for the answer to one ping."""
    invocation: float
    """Seconds for the answer to one request."""
    stream: float = 0.0
    """Seconds for a whole streamed answer; `invocation` counts if it is more."""
    most_body: int
    """Bytes of one request."""
    key: bool = False
    """True if requests from outside need the key of the job."""
    access: str = ""
    """Who can ask, in a sentence for the owner; empty if there is nothing to say."""
