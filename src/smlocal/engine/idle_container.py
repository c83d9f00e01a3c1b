"""A container that is never started: the engine reads and writes files in it."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, ContainerSpec, Engine, Mount, Resource, ResourceKind
from smlocal.errors import EngineError

_NO_PROGRAM: Final = "/smlocal-look-does-not-exist"
_LONGEST_SECONDS: Final = 600
"""No look takes so long."""


@contextmanager
def idle_container(engine: Engine, image: str, *, label: str, mounts: tuple[Mount, ...] = ()) -> Iterator[str]:
    """The id of such a container. `label` says in the place of a job what it is for."""
    _remove_old(engine, label)
    container = engine.create(
        idle_spec(image, {JOB_LABEL: label, RUN_LABEL: str(int(time.time()))}, mounts=mounts),
    )
    try:
        yield container
    finally:
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))


def idle_spec(
    image: str, labels: Mapping[str, str], *, mounts: tuple[Mount, ...] = (), name: str = ""
) -> ContainerSpec:
    """How it is created; whoever creates it removes it."""
    return ContainerSpec(
        name=name,
        image=image,
        labels=labels,
        entrypoint=(_NO_PROGRAM,),
        command=(),
        environment={},
        hostname="",
        mounts=mounts,
    )


def _remove_old(engine: Engine, label: str) -> None:
    """Remove what processes have left that were killed while they looked."""
    long_ago = time.time() - _LONGEST_SECONDS
    for resource in engine.owned(label):
        began = resource.labels.get(RUN_LABEL, "0")
        if not began.isdecimal() or int(began) < long_ago:
            with suppress(EngineError):  # whoever looks next tries again
                engine.remove(resource)
