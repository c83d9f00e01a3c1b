"""The module that Python imports at its start in a container that waits for a debugger, in a Python of this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smlocal.jobs.debugging.package import SOURCE

PORT = "SMLOCAL_DEBUG_PORT"


@pytest.fixture
def debugpy(tmp_path: Path) -> Path:
    """A folder with a module of this name, which says how it is called."""
    (tmp_path / "debugpy.py").write_text(
        "def listen(address): print('listens', address[1])\ndef wait_for_client(): print('waits')\n"
    )
    return tmp_path


def python(*words: str, folder: Path, **environment: str) -> str:
    search = os.pathsep.join((SOURCE, str(folder)))
    variables = {**os.environ, "PYTHONPATH": search, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=variables, capture_output=True, text=True, check=True, timeout=100
    )
    return done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("program.py",),
        ("-u", "program.py"),
        ("-X", "utf8", "program.py", "-c"),
        ("-m", "program"),
        ("-Bu", "program.py"),
    ],
    ids=" ".join,
)
def test_a_script_or_a_module_waits_before_its_first_line(debugpy: Path, words: tuple[str, ...]) -> None:
    (debugpy / "program.py").write_text("print('begins')\n")
    assert python(*words, folder=debugpy, **{PORT: "5678"}).split("\n") == ["listens 5678", "waits", "begins", ""]


@pytest.mark.parametrize(
    "words", [("-c", "print('begins')"), ("-uc", "print('begins')"), ("-m", "pip.__init__")], ids=" ".join
)
def test_a_line_of_code_and_what_installs_packages_do_not_wait(debugpy: Path, words: tuple[str, ...]) -> None:
    assert "waits" not in python(*words, folder=debugpy, **{PORT: "5678"})


def test_nothing_waits_in_a_container_without_the_port(debugpy: Path) -> None:
    (debugpy / "program.py").write_text("print('begins')\n")
    assert python("program.py", folder=debugpy, SMLOCAL_DEBUG_PORT="") == "begins\n"


def test_a_process_that_the_program_starts_does_not_listen_again(debugpy: Path) -> None:
    start = "import subprocess, sys\nif len(sys.argv) < 2: subprocess.run([sys.executable, __file__, 'child'])\n"
    (debugpy / "program.py").write_text(start)
    assert python("program.py", folder=debugpy, **{PORT: "5678"}).count("listens") == 1


def test_a_port_that_another_program_has_keeps_nobody_from_running(debugpy: Path) -> None:
    (debugpy / "debugpy.py").write_text("def listen(address): raise RuntimeError('in use')\n")
    (debugpy / "program.py").write_text("print('begins')\n")
    assert python("program.py", folder=debugpy, **{PORT: "5678"}) == "begins\n"


def test_what_the_image_customizes_is_done_too(debugpy: Path) -> None:
    (debugpy / "sitecustomize.py").write_text("print('of the image')\n")
    (debugpy / "program.py").write_text("print('begins')\n")
    said = python("program.py", folder=debugpy, **{PORT: "5678"})
    assert said.split("\n") == ["of the image", "listens 5678", "waits", "begins", ""]
