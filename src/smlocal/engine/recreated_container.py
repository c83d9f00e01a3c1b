"""Create a container in place of one that a killed supervisor has left, or has asked the engine to create."""

import time

from smlocal.engine.interface import ContainerSpec, Engine, Resource, ResourceKind
from smlocal.errors import EngineNameInUseError

_WAIT_SECONDS = 60.0
_PAUSE_SECONDS = 0.05


def recreate_container(engine: Engine, spec: ContainerSpec) -> str:
    """Remove whatever has the name of this container, and create it; returns its id.

    The engine reserves a name before the container can be seen, and goes on after the client is gone.
    """
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=spec.name))
        try:
            return engine.create(spec)
        except EngineNameInUseError:
            if time.monotonic() > until:
                raise
        time.sleep(_PAUSE_SECONDS)
