"""Tries whether a container can have certain devices and limits, by starting a program that does not exist.

The engine sets everything else up before it starts the program, and reports what fails.
"""

from collections.abc import Mapping

from smlocal.contract.gpus import GpuDevices
from smlocal.contract.limits import Limits
from smlocal.engine.interface import ContainerSpec, Engine, Resource, ResourceKind
from smlocal.errors import EngineError

PROBE_PROGRAM = "/smlocal-probe-does-not-exist"


def probe(
    engine: Engine,
    image: str,
    labels: Mapping[str, str],
    *,
    devices: GpuDevices | None,
    device_files: tuple[str, ...],
    limits: Limits | None,
) -> str | None:
    """The engine's error; None if only the program is missing."""
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
