"""Whether a container can be made and started at all."""

from smlocal.doctor.interface import Finding, fine, problem
from smlocal.doctor.look import Look
from smlocal.doctor.trial import Trial
from smlocal.engine.inspection import EngineDetails


def check(look: Look) -> Finding:
    """Really try."""
    return judge(look.trial, look.details)


def judge(trial: Trial, details: EngineDetails) -> Finding:
    """The engine's own words."""
    if trial.container_trouble is not None:
        whose = "--user " if details.rootless else ""
        return problem(
            f"no container can be started: {trial.container_trouble}",
            f"The engine's own log says more: journalctl {whose}-u {details.product.lower()}",
        )
    return fine("tried: containers and volumes are made and removed")
