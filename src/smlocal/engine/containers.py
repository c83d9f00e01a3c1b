"""Containers of a special kind: never started, started only to try something, or made in place of an earlier one."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final

from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, ContainerSpec, Engine, Mount, Resource, ResourceKind
from smlocal.errors import EngineError, EngineNameInUseError
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.limits import Limits

_NO_PROGRAM: Final = "/smlocal-look-does-not-exist"
_LONGEST_SECONDS: Final = 600
"""No look takes so long."""
_WAIT_SECONDS = 60.0
_PAUSE_SECONDS = 0.05
PROBE_PROGRAM = "/smlocal-probe-does-not-exist"


@contextmanager
def idle_container(
    engine: Engine,
    image: str,
    *,
    label: str,
    mounts: tuple[Mount, ...] = (),
    program: tuple[str, ...] = (),
    network: str | None = None,
) -> Iterator[str]:
    """The id of a container that is never started: the engine reads and writes files in it.

    `label` says in the place of a job what it is for. With a `program` of root's, the caller may start it.
    """
    _remove_old(engine, label)
    spec = idle_spec(image, {JOB_LABEL: label, RUN_LABEL: str(int(time.time()))}, mounts=mounts)
    if program:
        spec = replace(spec, entrypoint=program[:1], command=program[1:], user="0", network=network)
    container = engine.create(spec)
    try:
        yield container
    finally:
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))


def idle_spec(
    image: str, labels: Mapping[str, str], *, mounts: tuple[Mount, ...] = (), name: str = ""
) -> ContainerSpec:
    """How a container that is never started is created; the caller removes it."""
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
            with suppress(EngineError):  # the next look tries again
                engine.remove(resource)


def recreate_container(engine: Engine, spec: ContainerSpec) -> str:
    """Remove whatever has the name of this container, and create it; returns its id.

    A killed supervisor has left it, or has asked the engine to create it. The engine reserves a name before the
    container can be seen, and goes on after the client is gone.
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


def probe(
    engine: Engine,
    image: str,
    labels: Mapping[str, str],
    *,
    devices: GpuDevices | None,
    device_files: tuple[str, ...],
    limits: Limits | None,
) -> str | None:
    """Try whether a container can have these devices and limits, by starting a program that does not exist.

    Returns the engine's error; None if only the program is missing. The engine sets everything else up before it starts
    the program, and reports what fails.
    """
    spec = ContainerSpec(
        name="",
        image=image,
        labels=labels,
        entrypoint=(PROBE_PROGRAM,),
        command=(),
        environment={},
        hostname="",
        devices=devices,
        device_files=device_files,
        limits=limits or Limits(),
    )
    try:
        container = engine.create(spec)
    except EngineError as error:
        return _refusal(error)
    try:
        engine.start(container)
    except EngineError as error:
        refusal = _refusal(error)
        return None if PROBE_PROGRAM in refusal else refusal
    finally:
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    return None


def _refusal(error: EngineError) -> str:
    """The engine's message; raises the error if there was no answer."""
    if not error.status:
        raise error
    return error.sentence
