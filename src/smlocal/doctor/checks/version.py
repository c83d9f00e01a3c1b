"""Whether the engine is new enough."""

from smlocal.doctor.finding import Finding, fine, problem, warning
from smlocal.doctor.machine import Machine
from smlocal.engine.inspection import EngineDetails

_MINIMUM = (1, 30)
"""The first with a wait for the next end of a container (Docker 17.06)."""
_GPUS = (1, 40)
"""The first with device requests (Docker 19.03)."""


def check(machine: Machine) -> Finding:
    """Read the version of its API."""
    return judge(machine.details)


def judge(details: EngineDetails) -> Finding:
    """By the version of the API alone: packages change the engine's own version."""
    api = ".".join(map(str, details.api))
    update = f"Update it: {details.product} {details.version} is older than that."
    if details.api < _MINIMUM:
        return problem(f"API {api}: smlocal needs 1.30 (Docker 17.06)", update)
    if details.api < _GPUS:
        return warning(f"API {api} does not support GPUs, which need 1.40 (Docker 19.03)", update)
    if details.product == "Podman":
        return fine(f"API {api}, by Podman: docs/engines.md lists the differences")
    return fine(f"API {api}")
