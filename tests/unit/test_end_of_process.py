"""A command ends as soon as nothing is left to do, and loses nothing of what it has printed or begun."""

import subprocess
import sys

import pytest


def run(code: str) -> "subprocess.CompletedProcess[str]":
    """A command that does this in place of a job."""
    begin = f"""
import atexit, gc, threading
from smlocal import __main__
from smlocal.cli import main
class Left:
    def __del__(self):
        print("deleted", flush=True)
left = []
gate = threading.Event()
threading._register_atexit(gate.set)
def command():
    print("printed")
{code}
    return 3
main.run_command_line = command
__main__.main()
"""
    return subprocess.run([sys.executable, "-c", begin], capture_output=True, text=True, check=False, timeout=60)


def test_nothing_is_taken_apart_at_the_end() -> None:
    done = run("    left.append(Left())")
    assert (done.returncode, done.stdout, done.stderr) == (3, "printed\n", "")


@pytest.mark.parametrize(
    "code",
    [
        "    atexit.register(print, 'at the end')",
        "    threading.Thread(target=lambda: (gate.wait(), print('at the end'))).start()",
    ],
    ids=["registered", "thread"],
)
def test_what_is_still_to_be_done_is_done(code: str) -> None:
    done = run(code)
    assert (done.returncode, done.stdout) == (3, "printed\nat the end\n")
