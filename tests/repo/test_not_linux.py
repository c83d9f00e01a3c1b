"""What tests/kit/not_linux takes away is what macOS does not have."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "kit" / "not_linux"
_MODULES = ("os", "signal", "socket", "select", "resource", "fcntl", "time", "mmap", "errno")
_RARE = (
    *("ALG_", "AF_", "CAN_", "IOCTL_VM", "J1939_", "NETLINK_", "PACKET_", "PF_", "SCM_J1939", "SOL_", "SO_J1939"),
    *("SO_VM", "TIPC_", "UDPLITE_", "VM", "IPPROTO_", "IP_"),
)
"""Of kinds of sockets that nobody would use here."""
_KNOWN_TO_EXIST = {
    *("fcntl.F_OFD_GETLK", "fcntl.F_OFD_SETLK", "fcntl.F_OFD_SETLKW", "fcntl.F_GETLEASE", "fcntl.F_SETLEASE"),
    *("os.setns", "os.unshare", "socket.AF_ALG", "socket.AF_NETLINK", "socket.AF_PACKET", "socket.AF_VSOCK"),
}
"""Types have them for macOS, or are not asked about them; they are taken away in any case."""


def names(**environment: str) -> set[str]:
    """The public names of the modules, as a Python with this environment sees them."""
    program = f"""
import importlib, json
modules = {{name: importlib.import_module(name) for name in {_MODULES}}}
print(json.dumps([f"{{n}}.{{each}}" for n, m in modules.items() for each in dir(m) if each[0] != "_"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    return set(json.loads(done.stdout))


@pytest.fixture(scope="module")
def unknown_on_macos(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Those that type checkers know for Linux and not for macOS."""
    folder = tmp_path_factory.mktemp("types")
    found = sorted(names())
    program = [f"import {', '.join(_MODULES)}", *found]
    (folder / "program.py").write_text("\n".join(program))
    unknown: dict[str, set[str]] = {}
    for platform in ("linux", "darwin"):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "mypy",
                "--platform",
                platform,
                "--config-file",
                "",
                "--cache-dir",
                os.devnull,
                "program.py",
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        lines = [line for line in done.stdout.splitlines() if "has no attribute" in line]
        unknown[platform] = {program[int(line.split(":")[1]) - 1] for line in lines}
    return unknown["darwin"] - unknown["linux"]


@pytest.mark.linux("names are taken away from those of Linux")
@pytest.mark.slow(6)
def test_the_names_that_are_taken_away_are_those_that_macos_lacks(unknown_on_macos: set[str]) -> None:
    assert len(unknown_on_macos) > 200
    gone = names() - names(PYTHONPATH=str(FOLDER), NOT_LINUX="yes")
    left = {name for name in unknown_on_macos - gone if not name.partition(".")[2].startswith(_RARE)}
    assert left == set()
    assert gone - unknown_on_macos <= _KNOWN_TO_EXIST


@pytest.mark.linux("likewise")
def test_what_it_takes_away_exists_on_linux() -> None:
    """A name that was misspelt would take nothing away."""
    program = "import json, sitecustomize as s; print(json.dumps({m.__name__: n for m, n in s.ABSENT.items()}))"
    environment = {name: text for name, text in os.environ.items() if name != "NOT_LINUX"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "PYTHONPATH": str(FOLDER)},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    absent = json.loads(done.stdout)
    here = {(module, name) for module, named in absent.items() for name in named}
    missing = {f"{module}.{name}" for module, name in here if not hasattr(importlib.import_module(module), name)}
    assert missing <= {"os.setns", "os.unshare"}  # since Python 3.12
