"""A process that lives for days collects its garbage; one that lives for a moment does not look for any."""

import subprocess
import sys

import pytest


def run(code: str) -> str:
    """The output of a command that does this in place of a job."""
    begin = f"""
import gc, sys
from smlocal import __main__
from smlocal.cli import main
collected = []
gc.callbacks.append(lambda phase, info: collected.append(phase))
def command():
{code}
    return 0
main.run_command_line = command
collected.clear()
__main__.main()
"""
    return subprocess.run([sys.executable, "-c", begin], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.slow(0.5)
def test_garbage_does_not_pile_up() -> None:
    code = """
    for _ in range(1_100_000):
        ring = []
        ring.append(ring)
    print(sum(isinstance(each, list) for each in gc.get_objects()))
"""
    assert int(run(code)) < 200_000


def test_nothing_is_collected_in_a_short_command() -> None:
    code = """
    kept = [[] for _ in range(45_000)]
    print(len(collected))
"""
    assert run(code).strip() == "0"
