"""Whether the engine is new enough."""

from smlocal.doctor.interface import Finding, fine, problem, warning
from smlocal.doctor.look import Look
from smlocal.engine.inspection import EngineDetails

_LEAST = (1, 30)
"""Waits for the next end of a container (Docker 17.06)."""
_GPUS = (1, 40)
"""Device requests (Docker 19.03)."""


def check(look: Look) -> Finding:
    """Look at the version of its API."""
    return judge(look.details)


def judge(details: EngineDetails) -> Finding:
    """By the API alone: packagers change the engine's own number."""
    api = ".".join(map(str, details.api))
    update = f"Update it: {details.product} {details.version} is older than that."
    if details.api < _LEAST:
        return problem(f"API {api}: smlocal needs 1.30 (Docker 17.06)", update)
    if details.api < _GPUS:
        return warning(f"API {api} does not support GPUs, which need 1.40 (Docker 19.03)", update)
    if details.product == "Podman":
        return fine(f"API {api}, by Podman: docs/engines.md lists the differences")
    return fine(f"API {api}")
