"""Whether FastFile channels can read S3 as they go."""

from smlocal.channels.fastfile.availability import fuse_trouble
from smlocal.doctor.interface import Finding, fine, warning
from smlocal.doctor.look import Look


def check(look: Look) -> Finding:
    """Ask what the channels themselves ask."""
    del look
    return judge(fuse_trouble())


def judge(trouble: str | None) -> Finding:
    """Without FUSE the objects are downloaded first."""
    if trouble is None:
        return fine("FastFile channels are streamed from S3")
    why, _, remedy = trouble.partition(": ")
    return warning(f"FastFile channels in S3 are downloaded first: {why}", remedy)
