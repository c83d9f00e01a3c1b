"""Whether the clock is right: AWS refuses requests with a wrong time, and a machine that slept may be hours behind."""

from smlocal.contract.clock import CLOCK_REMEDY
from smlocal.doctor.finding import Finding, fine, unknown, warning
from smlocal.doctor.machine import Machine

_NOTICEABLE = 5.0
_REFUSED = 300.0
"""A third of the fifteen minutes that AWS allows."""


def check(machine: Machine) -> Finding:
    """Compare it with the engine's, and with that of AWS if requests to AWS are allowed."""
    engine = None
    if machine.engine_error is None and machine.details.system_time is not None:
        engine = machine.details.system_time - machine.asked_at
    return judge(engine=engine, aws=machine.aws_identity.behind if machine.online else None)


def judge(*, engine: float | None, aws: float | None) -> Finding:
    """`engine` and `aws`: the seconds by which this machine's clock is behind; negative if it is ahead."""
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
