"""Sockets in folders whose paths are longer than a socket's may be, on every system."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from smlocal.base.unix_sockets import LONGEST

SOURCES = Path(__file__).parents[3] / "src" / "smlocal"
NOT_LINUX = Path(__file__).parents[2] / "kit" / "not_linux"
# macOS has room for 104 bytes, of which one is a zero.
_OF_MACOS = 103
_HOME = "/Users/some.long.username/Library/Application Support/smlocal"
_PROGRAM = """
import os, sys
from smlocal.base.unix_sockets import connect_to, listening_at
path = sys.argv[1]
with listening_at(path) as listener:
    with connect_to(path, seconds=60) as near, listener.accept()[0] as far:
        near.sendall(b"word")
        print(far.recv(4).decode(), oct(os.stat(path).st_mode & 0o777), len(listener.getsockname()))
print(os.path.exists(path))
try:
    connect_to(path, seconds=60)
except FileNotFoundError:
    print("nobody")
"""


@pytest.mark.parametrize("system", [pytest.param("linux", marks=pytest.mark.linux("by /proc")), "darwin"])
@pytest.mark.parametrize("below", ["", "s" * 150])
def test_a_path_of_any_length(system: str, below: str, tmp_path: Path) -> None:
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(NOT_LINUX), "NOT_LINUX": str(tmp_path / "tried")}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, folder / "socket"],
        env=environment if system == "darwin" else None,
        capture_output=True,
        text=True,
        check=True,
    )
    word, mode, length, *rest = done.stdout.split()
    assert (word, mode, rest) == ("word", "0o600", ["False", "nobody"])
    assert int(length) <= _OF_MACOS
    assert not (tmp_path / "tried").exists() or not (tmp_path / "tried").read_text()


def test_paths_that_go_another_way_are_short_with_the_longest_names() -> None:
    """Everything else at a path goes through the module, so that any length is good."""
    used = {
        str(path.relative_to(SOURCES)): re.findall(r"AF_UNIX", text)
        for path in SOURCES.rglob("*.py")
        if "AF_UNIX" in (text := path.read_text())
    }
    assert {*used} == {
        "base/unix_sockets.py",
        "debugger/evaluator_package/smlocal_rules/endpoint_forwarder.py",  # in a container, at a path of its own
        "engine/endpoint.py",  # the engine's, which the user names
        "jobs/credentials/listener.py",  # names without a path, for engines of this kernel
        "sagemaker/serving/connections.py",  # asks for the kind of a connection
    }
    longest = f"{_HOME}/jobs/{'j' * 63}/endpoint/socket"
    assert LONGEST < _OF_MACOS < len(longest)
    assert len(f"/tmp/smlocal-{'x' * 8}/s/{'n' * 32}") <= LONGEST
