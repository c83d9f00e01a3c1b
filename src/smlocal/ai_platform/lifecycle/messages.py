"""The service's messages about errors."""

ERROR = "Error"
"""The reason of a container that ended with an exit code other than 0."""
CANNOT_RUN = "ContainerCannotRun"
"""The reason of a container whose program could not be started."""
UNKNOWN = "ContainerStatusUnknown"
"""The reason of a container of which nothing is left."""
INTERNAL = "Internal error occurred for the current attempt"
CANCELLED = "CANCELED"
OTHER_REGION_OR_K80 = "Try a different region. If you use K80, consider using P100 or V100 instead."
"""The advice of AI Platform Training."""
OTHER_REGION_OR_ACCELERATOR = "Try a different region or use a different accelerator."
"""The advice for custom jobs."""
_TRACEBACK = "Traceback (most recent call last):"


def user_exception(replica: str, exit_code: int, reason: str) -> str:
    """A replica failed."""
    return f"The replica {replica} exited with a non-zero status of {exit_code}. Termination reason: {reason}."


def out_of_memory(replica: str, exit_code: int) -> str:
    """A replica ran out of memory."""
    return f"The replica {replica} ran out of memory and exited with a non-zero status of {exit_code}."


def stock_out(region: str, advice: str) -> str:
    """A region has no more machines."""
    return f"Resources are insufficient in region: {region}. {advice}"


def ran_too_long(seconds: float) -> str:
    """The job was cancelled after its maximum running time. Our own words; the service's are not known."""
    return f"The job was cancelled because it was running for more than {seconds:g}s."


def waited_too_long(seconds: float) -> str:
    """The job was cancelled after its maximum wait time. Our own words; the service's are not known."""
    return f"The job was cancelled because it was not running after {seconds:g}s."


def with_traceback(message: str, log: str) -> str:
    """A user exception's message with the last traceback of the replica's log, if there is one, as the service does."""
    before, found, after = log.rpartition(_TRACEBACK)
    if not found or (before and not before.endswith("\n")):
        return message
    return f"{message} \n{found}{after.rstrip()}"
