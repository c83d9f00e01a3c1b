"""The folder of checkpoints in the container."""

import posixpath

from smlocal.contract.checkpoints import within
from smlocal.platforms.sagemaker.contract import paths

_NOT_ITS_OWN = (paths.MODEL, paths.OUTPUT, paths.WARM_POOL)


def container_path(local_path: str | None) -> str:
    """LocalPath, normalized, or the default."""
    return "/" + posixpath.normpath(local_path or paths.CHECKPOINTS).lstrip("/")


def is_own_mount(path: str) -> bool:
    """False if the path is in a folder that is mounted anyway."""
    return not any(within(path, folder) for folder in _NOT_ITS_OWN)


def unusable(local_path: str | None, *, code: bool) -> str | None:
    """Why checkpoints cannot be at this LocalPath; None if they can. `code`: Local.Code fills `/opt/ml/code`."""
    if local_path is not None and (not local_path.startswith("/") or "\0" in local_path):
        return "It is not an absolute path."
    path = container_path(local_path)
    if within(path, paths.INPUT):
        return f"{paths.INPUT} is for the channels and the configuration."
    if any(within(folder, path) for folder in (paths.INPUT, *_NOT_ITS_OWN) if folder != path):
        return "It would hide the other folders of the job."
    if within(path, paths.FAILURE):
        return "It is the failure file of the algorithm."
    if code and path == paths.CODE:
        return "Local.Code uses this folder."
    return None
