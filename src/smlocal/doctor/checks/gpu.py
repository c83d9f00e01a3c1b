"""Whether a container can get a GPU."""

import os

from smlocal.doctor.finding import Finding, fine, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.trial import Trial
from smlocal.engine.inspection import EngineDetails

_DRIVER = "/proc/driver/nvidia/version"


def check(machine: Machine) -> Finding:
    """Try it."""
    return judge(machine.trial, driver=os.path.exists(_DRIVER), details=machine.details)


def judge(trial: Trial, *, driver: bool, details: EngineDetails) -> Finding:
    """Only jobs with GPUs need it."""
    if trial.container_error is not None:
        return unknown("not checked: cannot start a container")
    if trial.gpu_error is None and details.api >= (1, 40):
        return fine("tested: a container gets a GPU")
    why = (trial.gpu_error or "the engine's API is too old").strip()
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
