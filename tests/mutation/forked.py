"""Pytests that begin where another process has come to, which has imported what all of them need.

Of the time that a pytest takes for one test, most goes into its imports.
"""

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_IMPORTED = ["tests.integration.conftest", "smlocal.cli.job_options", "smlocal.contract.job_file"]


def run_pytest(
    arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: Path, timeout: float
) -> int:
    """As a process of its own with this environment; what it prints goes to a file. Its exit code."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    process = context.Process(target=_run, args=(list(arguments), str(cwd), dict(environment), str(output)))
    process.start()
    process.join(timeout)
    try:
        assert process.exitcode is not None, f"it has not ended within {timeout:g} s:\n{output.read_text()}"
        return process.exitcode
    finally:
        process.kill()
        process.join()


def _run(arguments: list[str], cwd: str, environment: dict[str, str], output: str) -> None:
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    from tests.mutation import sitecustomize  # it looks at the environment

    assert sitecustomize.MEMBER
    code = pytest.main(arguments)
    sys.stdout.flush()
    os._exit(code)
