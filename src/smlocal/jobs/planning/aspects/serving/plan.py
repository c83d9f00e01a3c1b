"""How a container that answers requests is reached, and the limits of its answers."""

from smlocal.base.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingPlan:
    """What a job with a container that answers requests needs."""

    port: int
    """Where the container listens."""
    published: int = 0
    """The port of 127.0.0.1 in front of it; 0: it is reached at its own address."""
    archive: str = ""
    """The archive of this machine with its model; empty: none has to be unpacked."""
    uri: str = ""
    """The place of the model, as written in the request."""
    startup: float
    """Seconds until it must have answered a first ping."""
    ping: float
    """Seconds for the answer to one ping."""
    invocation: float
    """Seconds for the answer to one request."""
    most_body: int
    """Bytes of one request."""
