"""Errors of `smlocal shell`."""

from smlocal.errors.base import RequestRefusedError


class ContainerNotRunningError(RequestRefusedError):
    """A shell in a running job, whose container has not been started, or has ended."""

    id = "container-not-running"


class ShellMissingError(RequestRefusedError):
    """The image has no shell that could be opened."""

    id = "shell-missing"


class CommandNotStartedError(RequestRefusedError):
    """The program that should run in the container is not there, or cannot be executed."""

    id = "command-not-started"
