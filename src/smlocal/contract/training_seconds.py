"""How long a job has trained, in whole seconds."""


def training_seconds(started: float, ended: float) -> int:
    """The whole second of the end minus that of the start, as the service counts; at least 1.

    This may be one more than the seconds that have passed: from 1.9 to 3.1 there are two.
    """
    return max(1, int(ended) - int(started))
