"""Whether this machine and its engine support the limits of a job, checked before the job is made."""

import os
import shutil
from dataclasses import replace

from smlocal.base.files import free_bytes
from smlocal.engine.facts import EngineFacts
from smlocal.engine.interface import JOB_LABEL, Engine
from smlocal.errors import LimitUnusableError
from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.limits.plan import LimitFacts
from smlocal.jobs.planning.aspects.looks import Asked
from smlocal.terms.limits import Limits, read_size, read_ulimit
from smlocal.terms.usage import readable_memory

_RESERVED = 1 << 30
"""Bytes of the disk that volumes do not use, so that the disk of this machine does not become full."""


def examine(asked: Asked, placed: PlacedEngine, machine: MachineFacts, *, home: str) -> MachineFacts:
    """The machine's facts with those that limits depend on. Limits above what it has are an error."""
    check_limits(asked.local, asked.document, machine)
    cannot, no_volume = placed.engine.cannot_limit(), why_no_volume(placed.facts)
    return replace(machine, limits=LimitFacts(unlimited=cannot, free_disk=_free(home), no_volume=no_volume))


def try_out(asked: Asked, placed: PlacedEngine, machine: MachineFacts) -> None:  # noqa: ARG001 - others need it
    """Try whether the engine gives the ulimits to a container."""
    try_ulimits(asked.local, asked.document, placed.engine, asked.image)


def why_no_volume(engine: EngineFacts) -> str | None:
    """Why volumes of a fixed size cannot be created here; None if they can."""
    if os.geteuid() != 0:
        return "only root can create a disk of a fixed size"
    if engine.place is not None:
        return f"{engine.place.name} allows no privileges"
    if not engine.local or engine.desktop or engine.rootless:
        return "the engine runs in a virtual machine, or without root"
    if not os.path.exists("/dev/loop-control"):
        return "this machine has no loop devices"
    missing = [program for program in ("mkfs.ext4", "mount") if _program(program) is None]
    return f"{missing[0]} is not installed" if missing else None


def check_limits(local: LocalSettings, document: Document, machine: MachineFacts) -> None:
    """Compare the settings with the machine."""
    memory = machine.memory_mib << 20
    for name, size in (("Memory", read_size(local.Memory or "")), ("ShmSize", read_size(local.ShmSize or ""))):
        if size is not None and size > memory:
            raise _too_large(document, name, readable_memory(size), readable_memory(memory))
    if local.Cpus is not None and local.Cpus > machine.cpus:
        raise _too_large(document, "Cpus", f"{local.Cpus:g}", f"{machine.cpus} CPUs")


def try_ulimits(local: LocalSettings, document: Document, engine: Engine, image: str) -> None:
    """Have the engine try the ulimits: the kernel and the engine's own start decide which are allowed."""
    ulimits = {name: read_ulimit(limit) or (0, 0) for name, limit in (local.Ulimits or {}).items()}
    if not ulimits:
        return
    said = engine.probe(image, {JOB_LABEL: "limit-probe"}, limits=Limits(ulimits=ulimits))
    if said is None:
        return
    shown = ", ".join(f"{name}: {limit}" for name, limit in (local.Ulimits or {}).items())
    raise LimitUnusableError(
        f"this machine cannot give a container Local.Ulimits ({shown})",
        details=[f"{document.where(('Local', 'Ulimits'))}   {shown}", said],
        remedy=[
            "Request no more than the engine itself has: prlimit --pid $(pidof dockerd)",
            "or raise the engine's own limits (LimitNOFILE= and others of its service), and restart it.",
        ],
    )


def _too_large(document: Document, name: str, asked: str, there: str) -> LimitUnusableError:
    return LimitUnusableError(
        f"Local.{name} is {asked}, and this machine has {there}",
        details=[f"{document.where(('Local', name))}   {name}: {asked}"],
        remedy=["Reduce it, or remove it."],
    )


def _free(home: str) -> int | None:
    free = free_bytes(home)
    return None if free is None else max(0, free - _RESERVED)


def _program(name: str) -> str | None:
    # They are in folders that are not in the PATH of ordinary users.
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
