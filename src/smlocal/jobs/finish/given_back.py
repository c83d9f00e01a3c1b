"""Gives what containers wrote as root to the user, in a place whose engine is not known to copy files.

Elsewhere the engine unpacks an archive of owners into the container. Here a container of the job's image runs `chown`,
or Python if it has none.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from glob import escape, glob
from typing import Final

from smlocal.engine.containers import recreate_container
from smlocal.engine.interface import ContainerSpec, Engine, Mount, Resource, ResourceKind
from smlocal.errors import EngineError
from smlocal.jobs.containers import labels
from smlocal.jobs.planning.model import HostPlan, JobPlan

_BY_PYTHON: Final = """
import os, sys
owner, group = map(int, sys.argv[1].split(":"))
for top in sys.argv[2:]:
    os.lchown(top, owner, group)
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            os.lchown(os.path.join(folder, name), owner, group)
"""


def give_back(plan: JobPlan, host: HostPlan, engine: Engine, folders: Sequence[str]) -> None:
    """Make this user the owner of everything in these folders of this machine, and in copies of channels.

    `EngineError` if the image has neither `chown` nor Python, or it fails.
    """
    user = os.geteuid()
    if user == 0:
        return
    copies = glob(f"{escape(plan.job_directory)}/staged/{escape(host.host.name)}/*/copy-*")
    foreign = [folder for folder in (*folders, *copies) if _has_others(folder, user)]
    if not foreign:
        return
    mounts = tuple(Mount(source=folder, target=f"/smlocal-{number}") for number, folder in enumerate(foreign))
    owner = f"{user}:{os.getegid()}"
    spec = ContainerSpec(
        name=f"{host.container}-chown",
        image=(host.program or plan.image).name,
        labels=labels(plan),
        entrypoint=("chown",),
        command=("-R", "-h", owner, *(mount.target for mount in mounts)),
        environment={},
        hostname="",
        user="0:0",
        mounts=mounts,
        network=plan.network.shared or None,
    )
    try:
        _run(spec, engine)
    except EngineError as error:
        if not error.is_of_runtime:
            raise
        arguments = (owner, *(mount.target for mount in mounts))
        _run(replace(spec, entrypoint=("python3",), command=("-c", _BY_PYTHON, *arguments)), engine)


def _run(spec: ContainerSpec, engine: Engine) -> None:
    container = recreate_container(engine, spec)
    try:
        engine.start(container)
        code = engine.wait(container)
    finally:
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    if code != 0:
        raise EngineError(
            f"{' '.join(spec.entrypoint or ())} in a container of {spec.image} ended with exit code {code}"
        )


def _has_others(folder: str, user: int) -> bool:
    """True if something in the folder belongs to another user, or may."""
    return any(status is None or status.st_uid != user for status in _entries(folder))


def _entries(folder: str) -> Iterator[os.stat_result | None]:
    """The folder and all below it; None for a folder that cannot be read."""
    pending = [folder]
    try:
        yield os.lstat(folder)
    except FileNotFoundError:
        return
    while pending:
        try:
            with os.scandir(pending.pop()) as found:
                for entry in found:
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except PermissionError:
            yield None
        except FileNotFoundError:
            continue
