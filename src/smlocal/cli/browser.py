"""Opens a page in the browser of the person at this machine."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress

from smlocal.errors.of_commands import BrowserMissingError

_PROGRAMS = ("open",) if sys.platform == "darwin" else ("xdg-open", "wslview")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER")
"""One of them is set where there is a screen, or where somebody has chosen a browser."""
_IN_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD")
_FAILS_WITHIN = 5.0
"""Seconds. The program may stay until the browser is closed."""


def open_page(path: str) -> None:
    """Open a file, or raise `BrowserMissingError`."""
    if any(os.environ.get(each) for each in _IN_CI):
        raise _missing(path, "this is a CI service")
    if sys.platform != "darwin" and not any(os.environ.get(each) for each in _SCREENS):
        raise _missing(path, "neither DISPLAY nor WAYLAND_DISPLAY is set, so there is no screen")
    program = next((each for each in _PROGRAMS if shutil.which(each)), None)
    if program is None:
        raise _missing(path, f"{' and '.join(_PROGRAMS)} {'is' if len(_PROGRAMS) == 1 else 'are'} not installed")
    try:
        process = subprocess.Popen(
            [program, os.path.abspath(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _missing(path, f"{program} cannot be started: {error.strerror}") from error
    with suppress(subprocess.TimeoutExpired):
        if process.wait(_FAILS_WITHIN) != 0:
            raise _missing(path, f"{program} exited with {process.returncode}")


def _missing(path: str, why: str) -> BrowserMissingError:
    return BrowserMissingError(
        f"the page was written, but no browser can be opened: {why}", remedy=[f"Open it yourself: {path}"]
    )
