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
            f"cannot start a container: {trial.container_trouble}",
            f"See the engine's log: journalctl {whose}-u {details.product.lower()}",
        )
    return fine("tested: containers and volumes can be created and removed")
