"""Whether a container can be created and started."""

from smlocal.doctor.finding import Finding, fine, problem
from smlocal.doctor.machine import Machine
from smlocal.doctor.trial import Trial
from smlocal.engine.inspection import EngineDetails


def check(machine: Machine) -> Finding:
    """Try it."""
    return judge(machine.trial, machine.details)


def judge(trial: Trial, details: EngineDetails) -> Finding:
    """Repeat what the engine said."""
    if trial.container_error is not None:
        whose = "--user " if details.rootless else ""
        return problem(
            f"cannot start a container: {trial.container_error}",
            f"See the engine's log: journalctl {whose}-u {details.product.lower()}",
        )
    return fine("tested: containers and volumes can be created and removed")
