"""Errors of commands that show something outside of the terminal, or something to begin with."""

from smlocal.errors.base import MachineNotReadyError


class BrowserMissingError(MachineNotReadyError):
    """No browser can be opened for a person: none is installed, there is no screen, or a CI service runs this."""

    id = "browser-missing"


class DemoBaseMissingError(MachineNotReadyError):
    """There is no image from which the image of the demo can be built."""

    id = "demo-base-missing"
