"""Whether an engine answers, and which one it is."""

from smlocal.doctor.finding import Finding, fine
from smlocal.doctor.machine import Machine


def check(machine: Machine) -> Finding:
    """Ask it. If it does not answer, its error says what to do."""
    if machine.engine_error is not None:
        raise machine.engine_error
    details = machine.details
    return fine(f"{details.product} {details.version} at {machine.endpoint.address}")
