"""Helpers of many tests: a command to run, something that must come about, and how often a random test is tried."""

import os
import subprocess
import time
from collections.abc import Callable

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""`smlocal_run`, and others that run a command to its end."""
_SECONDS = 200.0
"""Enough for a busy machine, where one request to the engine may take a quarter of a minute."""
_PAUSE = 0.02


def until(condition: Callable[[], bool], *, seconds: float = _SECONDS) -> None:
    """Wait for something that must come about; how soon is no matter."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"it did not come about within {seconds:g} s")
        time.sleep(_PAUSE)


def examples(number: int) -> int:
    """The number of examples of a property with a number of its own: fewer where `SMLOCAL_EXAMPLES` says so."""
    return min(number, int(os.environ.get("SMLOCAL_EXAMPLES", str(number))))
