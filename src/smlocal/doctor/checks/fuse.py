"""Whether FastFile channels can be streamed from S3."""

from smlocal.channels.fastfile.availability import why_no_fuse
from smlocal.doctor.finding import Finding, fine, warning
from smlocal.doctor.machine import Machine


def check(machine: Machine) -> Finding:
    """Check what the channels themselves check."""
    del machine
    return judge(why_no_fuse())


def judge(trouble: str | None) -> Finding:
    """Without FUSE the objects are downloaded before the container starts."""
    if trouble is None:
        return fine("FastFile channels are streamed from S3")
    why, _, remedy = trouble.partition(": ")
    return warning(f"FastFile channels in S3 are downloaded first: {why}", remedy)
