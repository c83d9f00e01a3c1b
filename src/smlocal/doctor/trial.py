"""Creates a container with an overlay, and one with a GPU, from an image without files.

Nothing can run in them, and nothing has to: an engine mounts volumes and attaches devices before it looks for the
program, and reports which of these failed. Everything has labels and is removed at once.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from smlocal.channels.overlay import is_overlay_refusal, overlay_volume
from smlocal.contract.gpus import GpuDevices
from smlocal.engine.docker import DockerEngine
from smlocal.engine.inspection import Inspection
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, ContainerSpec, Mount
from smlocal.engine.probe import PROBE_PROGRAM
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.prepare.shared_folders import try_folders_again
from smlocal.quick_dataclass import dataclass
from smlocal.store.home import prepare_home

NAME = "smlocal-doctor"
_LONGEST_SECONDS = 600.0
"""No doctor takes so long."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """The result. An error is None if there was none."""

    container_error: str | None = None
    """Why no container can be created or started."""
    overlay_error: str | None = None
    gpu_error: str | None = None
    shared_memory: int = 0
    """Bytes of /dev/shm."""
    shares_folders: bool = True
    slowness: float | None = None
    """As in `EngineFacts`."""


def try_container(engine: DockerEngine, inspection: Inspection, home: str) -> Trial:
    """Takes half a second. An engine that does not see our folders gets a plain volume."""
    run = os.urandom(4).hex()
    labels = {JOB_LABEL: NAME, RUN_LABEL: run}
    image = f"{NAME}-{run}"
    try:
        _remove_old(engine, inspection)
        inspection.make_empty_image(image, labels)
        with _cleaned_up(engine, inspection, image, run), _folder(home) as folder:
            name = f"{NAME}-{run}"
            facts = try_folders_again(engine.facts(), engine, image, home)
            if facts.shares_folders:
                overlay_volume(folder, engine=engine, name=name, labels=labels, rootless=facts.rootless)
            else:
                engine.create_volume(name, labels, {})
            memory, overlay = _try_volume(engine, inspection, image, name, labels)
            return Trial(
                overlay_error=overlay,
                gpu_error=engine.probe(image, labels, devices=_every_gpu(engine)),
                shared_memory=memory,
                shares_folders=facts.shares_folders,
                slowness=facts.slowness,
            )
    except EngineError as error:
        return Trial(container_error=error.sentence)


def _every_gpu(engine: DockerEngine) -> GpuDevices:
    return GpuDevices(ids=(), every=True, cdi=engine.cdi_gpus() is not None)


def _try_volume(
    engine: DockerEngine, inspection: Inspection, image: str, name: str, labels: dict[str, str]
) -> tuple[int, str | None]:
    container = engine.create(
        ContainerSpec(
            name=name,
            image=image,
            labels=labels,
            entrypoint=(PROBE_PROGRAM,),
            command=(),
            environment={},
            hostname="",
            mounts=(Mount(source=name, target="/doctor", volume=True),),
        )
    )
    memory = inspection.shared_memory(container)
    try:
        engine.start(container)
    except EngineError as error:
        if is_overlay_refusal(error):
            return memory, error.sentence
        if PROBE_PROGRAM not in error.sentence:
            raise
    return memory, None


def _remove_old(engine: DockerEngine, inspection: Inspection) -> None:
    """Remove what killed doctors have left. Their image is made first and removed last, so it is always there."""
    long_ago = time.time() - _LONGEST_SECONDS
    with suppress(EngineError, MachineNotReadyError):  # the next doctor tries again
        for image in inspection.images_with(f"{JOB_LABEL}={NAME}"):
            if image.created < long_ago:
                _remove(engine, inspection, image.id, image.labels.get(RUN_LABEL, ""))


@contextmanager
def _cleaned_up(engine: DockerEngine, inspection: Inspection, image: str, run: str) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(EngineError, MachineNotReadyError):  # a later doctor removes it
            _remove(engine, inspection, image, run)


def _remove(engine: DockerEngine, inspection: Inspection, image: str, run: str) -> None:
    for resource in engine.owned(NAME):
        if resource.labels.get(RUN_LABEL) == run:
            engine.remove(resource)
    inspection.remove_image(image)


@contextmanager
def _folder(home: str) -> Iterator[str]:
    """A folder to mount. The home is more often on the same disk as the user's data than the temporary folder is."""
    with suppress(MachineNotReadyError, OSError):
        home = prepare_home(home)
    try:
        kept = tempfile.TemporaryDirectory(prefix="doctor-", dir=home)
    except OSError:
        kept = tempfile.TemporaryDirectory(prefix="smlocal-doctor-")
    with kept as folder:
        yield folder
