"""Whether a job with a GPU would get one."""

import os

from smlocal.doctor.interface import Finding, fine, unknown, warning
from smlocal.doctor.look import Look
from smlocal.doctor.trial import Trial
from smlocal.engine.inspection import EngineDetails

_DRIVER = "/proc/driver/nvidia/version"


def check(look: Look) -> Finding:
    """Really ask for one."""
    return judge(look.trial, driver=os.path.exists(_DRIVER), details=look.details)


def judge(trial: Trial, *, driver: bool, details: EngineDetails) -> Finding:
    """Jobs without GPUs do not care."""
    if trial.container_trouble is not None:
        return unknown("not checked: cannot start a container")
    if trial.gpu_trouble is None and details.api >= (1, 40):
        return fine("tested: a container gets a GPU")
    why = (trial.gpu_trouble or "the engine's API is too old").strip()
    if details.product == "Podman":
        return warning(
            f"jobs with GPUs are refused: {why}",
            "With a GPU, and Podman 5.4: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml. Without: --allow-cpu",
        )
    if driver:
        return warning(
            f"the driver is installed, but containers get no GPU: {why}",
            "Install nvidia-container-toolkit, run: nvidia-ctk runtime configure; then restart the engine",
        )
    return warning(
        f"jobs of instance types with GPUs are refused: {why}",
        "With a GPU: install its driver and nvidia-container-toolkit, restart the engine. Without: --allow-cpu",
    )
