"""Where things lie inside a training container."""

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
"""Where checkpoints lie unless the request says otherwise."""
CODE = "/opt/ml/code"
"""Not made by the service; the training toolkit makes it, and does not fetch code when it holds some."""


def channel(name: str) -> str:
    """Folder of a File mode channel."""
    return f"{DATA}/{name}"


def channel_manifest(name: str) -> str:
    """The downloader's list of a File mode channel, beside the channel's folder."""
    return f"{DATA}/{name}-manifest"


CHECKPOINTS_MANIFEST = channel_manifest("checkpoints")
"""To the service, checkpoints are a hidden channel."""
