"""How the life of a container went on, as `ContainerRun` reports it. `container` is the run's name."""

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerExited:
    """The container has ended, by itself or by a signal."""

    container: str
    exit_code: int
    oom_killed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerLost:
    """The engine no longer answers for the container; it may still be running."""

    container: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadDied:
    """A thread of smlocal ended with an unexpected exception, a defect of smlocal."""

    thread: str
    error: BaseException
    container: str | None = None
    """Set if it was the thread that waited for this container's end. No other event comes from that run."""

    @property
    def why(self) -> str:
        """The error and the thread."""
        return f"{unexpected_error(self.error)} ({self.thread})"


ContainerEvent = ContainerExited | ContainerLost | ThreadDied


def unexpected_error(error: BaseException) -> str:
    """The explanation of an error that is a defect of smlocal."""
    return f"unexpected error in smlocal: {type(error).__name__}: {error}"
