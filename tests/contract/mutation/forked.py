"""Pytests that begin where another process has come to: most of the time that one takes for one test is its imports."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.kit.forked import begin_in, fork


def run_pytest(
    arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: Path, timeout: float
) -> int:
    """As a process of its own with this environment; what it prints goes to a file. Its exit code."""
    process = fork(_run, list(arguments), str(cwd), dict(environment), str(output))
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
    begin_in(environment, cwd)
    code = pytest.main(arguments)
    sys.stdout.flush()
    os._exit(code)
