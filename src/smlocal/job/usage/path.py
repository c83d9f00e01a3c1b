"""Where the usage of a job is kept."""


def series_directory(job_directory: str) -> str:
    """Where the files of all hosts are; there is none while nothing has been measured."""
    return f"{job_directory}/usage"


def series_path(job_directory: str, host: str) -> str:
    """The file of one host."""
    return f"{series_directory(job_directory)}/{host}.csv"
