"""Where the raw log of each host is."""

import os


def log_path(job_directory: str, host: str) -> str:
    """The raw log of one host."""
    return f"{job_directory}/logs/{host}.log"


def logged_by(job_directory: str, host: str) -> int:
    """How long the log of a host is by now."""
    try:
        return os.path.getsize(log_path(job_directory, host))
    except OSError:
        return 0
