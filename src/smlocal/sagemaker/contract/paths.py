"""The paths in a training container."""

import posixpath

from smlocal.terms.checkpoints import within

ROOT = "/opt/ml"
INPUT = "/opt/ml/input"
CONFIG = "/opt/ml/input/config"
DATA = "/opt/ml/input/data"
MODEL = "/opt/ml/model"
OUTPUT = "/opt/ml/output"
OUTPUT_DATA = "/opt/ml/output/data"
FAILURE = "/opt/ml/output/failure"
METRICS = "/opt/ml/output/metrics/sagemaker"
PROFILER = "/opt/ml/output/profiler"
TENSORBOARD = "/opt/ml/output/tensorboard"
TENSORS = "/opt/ml/output/tensors"
CHECKPOINTS = "/opt/ml/checkpoints"
"""The default folder of checkpoints."""
WARM_POOL = "/opt/ml/sagemaker/warmpoolcache"
"""The folder that stays for the next job of a warm pool. Jobs without a warm pool have it too."""
CODE = "/opt/ml/code"
"""Not made by the service. The training toolkit makes it, and downloads no code if there is some in it."""


def channel(name: str) -> str:
    """The folder of a File mode channel."""
    return f"{DATA}/{name}"


def channel_manifest(name: str) -> str:
    """The manifest of a File mode channel, next to its folder."""
    return f"{DATA}/{name}-manifest"


CHECKPOINTS_MANIFEST = channel_manifest("checkpoints")
"""The service treats checkpoints as a hidden channel."""


# The folder of checkpoints in the container.

_NOT_ITS_OWN = (MODEL, OUTPUT, WARM_POOL)


def container_path(local_path: str | None) -> str:
    """LocalPath, normalized, or the default."""
    return "/" + posixpath.normpath(local_path or CHECKPOINTS).lstrip("/")


def is_own_mount(path: str) -> bool:
    """False if the path is in a folder that is mounted anyway."""
    return not any(within(path, folder) for folder in _NOT_ITS_OWN)


def unusable(local_path: str | None, *, code: bool) -> str | None:
    """Why checkpoints cannot be at this LocalPath; None if they can. `code`: Local.Code fills `/opt/ml/code`."""
    if local_path is not None and (not local_path.startswith("/") or "\0" in local_path):
        return "It is not an absolute path."
    path = container_path(local_path)
    if within(path, INPUT):
        return f"{INPUT} is for the channels and the configuration."
    if any(within(folder, path) for folder in (INPUT, *_NOT_ITS_OWN) if folder != path):
        return "It would hide the other folders of the job."
    if within(path, FAILURE):
        return "It is the failure file of the algorithm."
    if code and path == CODE:
        return "Local.Code uses this folder."
    return None
