"""The limits of containers that a job sets itself."""

from smlocal.jobfile.settings import LocalSettings

MIB = 1 << 20
GIB = 1 << 30


def wants_limits(local: LocalSettings) -> bool:
    """True if the job sets any limit."""
    return local.EnforceInstanceLimits or any(
        value is not None for value in (local.Memory, local.Cpus, local.ShmSize, local.Ulimits, local.Processes)
    )
