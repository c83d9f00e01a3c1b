"""Errors of the endpoint: `smlocal serve` and `smlocal exec`."""

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError


class PortUnusableError(MachineNotReadyError):
    """The endpoint cannot listen on its port: another program has it, or this user may not use it."""

    id = "port-unusable"


class EndpointKeyError(RequestRefusedError):
    """The environment has half of a key for the endpoint, or the endpoint is to be open where it must not be."""

    id = "endpoint-key"


class ServeMissingError(MachineNotReadyError):
    """The packages that the endpoint needs are not installed."""

    id = "serve-missing"


class ProgramUnusableError(RequestRefusedError):
    """The program of `smlocal exec` cannot be started."""

    id = "program-unusable"


class JobStarterError(MachineNotReadyError):
    """The process that starts submitted jobs cannot be started, or does not answer."""

    id = "job-starter"
