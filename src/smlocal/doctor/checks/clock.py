"""Whether the clocks agree: AWS refuses requests that seem old, and a machine that slept may be hours behind."""

from smlocal.contract.clock import CLOCK_REMEDY
from smlocal.doctor.interface import Finding, fine, unknown, warning
from smlocal.doctor.look import Look

_NOTICEABLE = 5.0
_REFUSED = 300.0
"""Fifteen minutes are the limit of AWS; a third of it is near."""


def check(look: Look) -> Finding:
    """Compare ours with the engine's, and with that of AWS where it may be asked."""
    engine = None
    if look.engine_trouble is None and look.details.system_time is not None:
        engine = look.details.system_time - look.asked_at
    return judge(engine=engine, aws=look.caller.behind if look.online else None)


def judge(*, engine: float | None, aws: float | None) -> Finding:
    """How far ours is behind each, in seconds; negative when it is ahead."""
    if aws is not None and abs(aws) > _REFUSED:
        return warning(f"{_apart(aws)} AWS, which refuses requests with a wrong time", CLOCK_REMEDY)
    if engine is not None and abs(engine) > _NOTICEABLE:
        return warning(
            f"{_apart(engine)} the engine's: the times of logs and metrics are wrong",
            "Restart the engine's machine, or set its clock.",
        )
    if engine is None and aws is None:
        return unknown("no other clock to compare with")
    return fine(f"same time as {' and '.join(('the engine',) * (engine is not None) + ('AWS',) * (aws is not None))}")


def _apart(seconds: float) -> str:
    return f"this machine's clock is {abs(seconds):.0f} s {'behind' if seconds > 0 else 'ahead of'}"
