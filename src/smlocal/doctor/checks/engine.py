"""Whether an engine answers, and which."""

from smlocal.doctor.interface import Finding, fine
from smlocal.doctor.look import Look


def check(look: Look) -> Finding:
    """Ask it; the error of one that does not answer says what to do."""
    if look.engine_trouble is not None:
        raise look.engine_trouble
    details = look.details
    return fine(f"{details.product} {details.version} at {look.endpoint.address}")
