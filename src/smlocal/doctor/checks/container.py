"""Whether a container can be made and started at all."""

from smlocal.doctor.interface import Finding, fine, problem
from smlocal.doctor.look import Look
from smlocal.doctor.trial import Trial


def check(look: Look) -> Finding:
    """Really try."""
    return judge(look.trial)


def judge(trial: Trial) -> Finding:
    """The engine's own words."""
    if trial.container_trouble is not None:
        return problem(
            f"no container can be started: {trial.container_trouble}",
            "The engine's own log says more: journalctl -u docker",
        )
    return fine("tried: containers and volumes are made and removed")
