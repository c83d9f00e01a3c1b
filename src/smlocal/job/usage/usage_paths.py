"""Where the usage of a job is kept."""


def usage_directory(job_directory: str) -> str:
    """The folder with a file per host. It does not exist while nothing has been measured."""
    return f"{job_directory}/usage"


def series_path(job_directory: str, host: str) -> str:
    """The file of one host."""
    return f"{usage_directory(job_directory)}/{host}.csv"
