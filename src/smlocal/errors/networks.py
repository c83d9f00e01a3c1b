"""Errors about networks that a job joins, and about the port at which its program waits for a debugger."""

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError


class IsolatedJobError(RequestRefusedError):
    """The job is isolated, and its settings give it a way in or out."""

    id = "isolated-job"


class NetworkUnknownError(MachineNotReadyError):
    """The engine does not have a network that the job joins."""

    id = "network-unknown"


class DebugPortError(MachineNotReadyError):
    """The port for the debugger cannot be used."""

    id = "debug-port"
