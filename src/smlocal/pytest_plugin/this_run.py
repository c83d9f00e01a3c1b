"""Names of what this run of pytest makes, and how errors of smlocal are shown in it."""

import os
import re
import secrets

import pytest

import smlocal
from smlocal.errors import JobUnknownError, SmlocalError

_LONGEST_NAME = 63
_RUN = secrets.token_hex(4)
"""The id of this run of pytest, where xdist gives it none."""
_COUNTER = pytest.StashKey[list[int]]()


def prefix() -> str:
    """The beginning of all names of this run."""
    return f"pytest-{os.environ.get('PYTEST_XDIST_TESTRUNUID', _RUN)[:8]}-"


def unique_name(config: pytest.Config, test: str) -> str:
    """A name from the run, the worker and the test."""
    counter = config.stash.setdefault(_COUNTER, [0])
    counter[0] += 1
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    words = re.sub(r"[^a-zA-Z0-9]+", "-", test).strip("-")
    name = "-".join(each for each in (worker, str(counter[0]), words) if each)
    return f"{prefix()}{name}"[:_LONGEST_NAME].rstrip("-")


def exists(name: str) -> bool:
    """True if smlocal has a job or an endpoint of this name."""
    try:
        smlocal.TrainingJob(name)
    except JobUnknownError:
        return False
    return True


def explained(error: SmlocalError) -> SmlocalError:
    """The error without its place in smlocal, and with notes that say where the mistake is and how to correct it."""
    for line in (*error.details, *error.remedy):
        error.add_note(line)
    return error.with_traceback(None)
