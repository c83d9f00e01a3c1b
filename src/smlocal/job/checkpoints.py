"""Checkpoints of one job: brought to every host before its container is made, saved when the containers have ended."""

import os
import stat
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from smlocal.artifacts.fetch import host_tree
from smlocal.artifacts.tree import HostTree
from smlocal.contract import paths
from smlocal.contract.checkpoints import Restored, Stamp
from smlocal.contract.manifest import manifest
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import ArtifactError
from smlocal.plan.document import checkpoint_directory, host_directory
from smlocal.plan.model import CheckpointPlan, HostPlan, JobPlan

if TYPE_CHECKING:
    from smlocal.artifacts.checkpoints import SaveReport


def restore_checkpoints(plan: JobPlan, host: HostPlan) -> None:
    """Bring the checkpoints to one host, whose folders exist, and remember which; `StagingError` when it fails."""
    if plan.checkpoints is None:
        return
    import json  # most jobs have no checkpoints

    from smlocal.channels.checkpoints import restore

    restored = restore(plan.checkpoints.listing, checkpoint_directory(plan, host))
    with open(_record(plan, host), "w", encoding="ascii") as record:
        json.dump(asdict(restored), record)


def checkpoint_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """What is mounted for the checkpoints alone; nothing where they lie in a folder that is mounted anyway."""
    checkpoints = plan.checkpoints
    if checkpoints is None or not checkpoints.own_mount:
        return ()
    return (Mount(source=checkpoint_directory(plan, host), target=checkpoints.local_path),)


def save_checkpoints(plan: JobPlan, hosts: Iterable[tuple[HostPlan, str]], engine: Engine) -> "SaveReport | None":
    """Save what the hosts, in their order and each with its container, have made of the checkpoints.

    For containers that have ended and whose folders are still there. `ArtifactError` when it cannot be done; to call it
    again, also from another process, does no harm.
    """
    checkpoints = plan.checkpoints
    if checkpoints is None:
        return None
    from smlocal.artifacts.checkpoints import save  # most jobs have no checkpoints

    pairs = list(hosts)
    return save(
        [_tree(plan, checkpoints, host, container, engine) for host, container in pairs],
        checkpoints.directory,
        restored=[_restored(plan, host) for host, _ in pairs],
        run_id=plan.run_id,
    )


def with_checkpoints_of_now(plan: JobPlan) -> JobPlan:
    """The plan of a later attempt: what has been saved meanwhile is restored, and stands in the manifest."""
    if plan.checkpoints is None:
        return plan
    from smlocal.sources.checkpoints import list_again  # most jobs have no checkpoints

    listing = list_again(plan.checkpoints.listing)
    files = {paths.CHECKPOINTS_MANIFEST: manifest(listing)}
    return replace(
        plan,
        checkpoints=replace(plan.checkpoints, listing=listing),
        hosts=tuple(replace(host, files={**host.files, **files}) for host in plan.hosts),
    )


def _tree(plan: JobPlan, checkpoints: CheckpointPlan, host: HostPlan, container: str, engine: Engine) -> HostTree:
    directory = checkpoint_directory(plan, host)
    if not _is_folder(directory, host_directory(plan, host)):
        return HostTree(host=host.host.name, root=os.fsencode(directory), entries=())
    return host_tree(
        host.host.name,
        directory,
        engine=engine,
        container=container,
        path=checkpoints.local_path,
        spool=f"{plan.job_directory}/staged/{host.host.name}-checkpoints",
    )


def _is_folder(directory: str, above: str) -> bool:
    """False for what the container has deleted or made a link of, here or on the way: no link of its is followed."""
    current = above
    for name in directory.removeprefix(f"{above}/").split("/"):
        current = f"{current}/{name}"
        try:
            if not stat.S_ISDIR(os.lstat(current).st_mode):
                return False
        except (FileNotFoundError, NotADirectoryError):
            return False
        except PermissionError:
            return True  # the engine is asked, and it looks from inside the container
        except OSError as error:
            raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[current]) from error
    return True


def _record(plan: JobPlan, host: HostPlan) -> str:
    """Beside the folders that the container sees, so that a supervisor who takes over finds it."""
    return f"{host_directory(plan, host)}/restored-checkpoints.json"


def _restored(plan: JobPlan, host: HostPlan) -> Restored:
    """What this host was given; nothing when that is not known, and then all that it has counts as written."""
    import json

    try:
        with open(_record(plan, host), encoding="ascii") as record:
            document = json.load(record)
    except (OSError, ValueError):
        return Restored(directory=checkpoint_directory(plan, host))
    return Restored(
        directory=document["directory"], files={path: Stamp(**stamp) for path, stamp in document["files"].items()}
    )
