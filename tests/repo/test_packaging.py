"""The wheel and the sdist: each installs with every extra into an empty environment, and smlocal works there."""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from configparser import ConfigParser
from email import message_from_bytes
from pathlib import Path

import pytest
from tests.kit import Run

ROOT = Path(__file__).parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")
_EVERY_MODULE = """
import importlib, pkgutil, smlocal
for module in pkgutil.walk_packages(smlocal.__path__, "smlocal."):
    # Only pytest imports its plugin, and it is not installed there.
    if not module.name.endswith("__main__") and not module.name.startswith("smlocal.pytest_plugin."):
        importlib.import_module(module.name)
print(smlocal.__file__)
"""


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Both, built without an index by the backend that pyproject.toml names."""
    folder = tmp_path_factory.mktemp("dist")
    build = "import sys; from hatchling import build; print(getattr(build, 'build_' + sys.argv[1])(sys.argv[2]))"
    made = {}
    for kind in ("wheel", "sdist"):
        command = [sys.executable, "-c", build, kind, str(folder)]
        made[kind] = folder / subprocess.check_output(command, cwd=ROOT, text=True, timeout=120).split()[-1]
    return made


@pytest.fixture
def extras(distributions: Mapping[str, Path]) -> list[str]:
    with zipfile.ZipFile(distributions["wheel"]) as wheel:
        (name,) = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_bytes(wheel.read(name)).get_all("Provides-Extra", [])


@pytest.fixture
def empty(tmp_path: Path) -> Run:
    """Runs the Python of an environment with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=120)
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}

    def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        command = [tmp_path / "venv" / "bin" / "python", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=outside, capture_output=True, text=True, check=False, timeout=600
        )

    return run


def test_they_hold_what_they_should(distributions: Mapping[str, Path]) -> None:
    files = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    source = {path.relative_to(ROOT / "src").as_posix() for path in files}
    assert "smlocal/report/templates/layout.html" in source
    with zipfile.ZipFile(distributions["wheel"]) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert packed == source
        (listed,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
        entries = ConfigParser()
        entries.read_string(wheel.read(listed).decode())
        assert entries["pytest11"] == {"smlocal": "smlocal.pytest_plugin.plugin"}
    with tarfile.open(distributions["sdist"]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", *(f"src/{name}" for name in source)} <= names
    assert not {name for name in names if "__pycache__" in name or name.startswith((".venv", "examples/hello/out"))}


@pytest.mark.slow(16)
@pytest.mark.long
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_installs_with_every_extra(
    kind: str,
    distributions: Mapping[str, Path],
    extras: list[str],
    empty: Run,
    tmp_path: Path,
) -> None:
    assert extras
    # One small package shows whether pip reaches an index; without one there is nothing to install from.
    quick = ("--retries", "0", "--timeout", "20")
    asked = empty(*PIP, *quick, "download", "--no-deps", "--dest", tmp_path / "tried", "click")
    if asked.returncode:
        pytest.skip(f"pip reaches no index: {asked.stderr.strip().splitlines()[-1]}")
    installed = empty(*PIP, "install", f"{distributions[kind]}[{','.join(extras)}]")
    assert installed.returncode == 0, installed.stderr
    checked = empty(*PIP, "check")
    assert checked.returncode == 0, checked.stdout
    imported = empty("-c", _EVERY_MODULE)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.startswith(str(tmp_path / "venv"))
    said = subprocess.check_output([tmp_path / "venv" / "bin" / "smlocal", "--help"], text=True, timeout=60)
    assert "smlocal [OPTIONS] COMMAND" in said
