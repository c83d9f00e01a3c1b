"""The paths in a training container."""

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
"""What stays for the next job of a warm pool. Jobs without a warm pool have it too."""
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
