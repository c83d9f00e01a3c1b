"""The wheel and the sdist: what is in them, whether builds are reproducible, and smlocal where they are installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from configparser import ConfigParser
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_BUILD = "import sys; from hatchling import build; print(getattr(build, 'build_' + sys.argv[1])(sys.argv[2]))"
_LARGEST = 2_120_000
"""Bytes of the wheel: 860 modules, each compressed by itself. Without docstrings and comments it would be 1,200,000."""
_BESIDE_THE_SOURCE = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "docs/errors.md",
    "scripts/package_readme.py",
    ".gitignore",
    "PKG-INFO",
}
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
    return build(ROOT, tmp_path_factory.mktemp("dist"))


def build(sources: Path, folder: Path) -> dict[str, Path]:
    made = {}
    for kind in ("wheel", "sdist"):
        command = [sys.executable, "-c", _BUILD, kind, str(folder)]
        made[kind] = folder / subprocess.check_output(command, cwd=sources, text=True, timeout=120).split()[-1]
    return made


def source_files() -> set[str]:
    """The files of a commit of this work tree below src."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"]
    asked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    if asked.returncode:
        pytest.skip("this is no work tree of git")
    return {name.removeprefix("src/") for name in asked.stdout.splitlines() if (ROOT / name).exists()}


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


@pytest.mark.slow(0.5)
def test_they_hold_what_they_should_and_nothing_else(distributions: Mapping[str, Path]) -> None:
    source = source_files()
    assert "smlocal/report/templates/layout.html" in source
    assert not {name for name in source if not name.startswith("smlocal/")}
    with zipfile.ZipFile(distributions["wheel"]) as wheel:
        beside = {name.partition(".dist-info/")[2] for name in wheel.namelist() if ".dist-info/" in name}
        assert {name for name in wheel.namelist() if ".dist-info/" not in name} == source
        assert beside == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
        (listed,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
        entries = ConfigParser()
        entries.read_string(wheel.read(listed).decode())
        assert entries["pytest11"] == {"smlocal": "smlocal.pytest_plugin.plugin"}
    with tarfile.open(distributions["sdist"]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert names == {*_BESIDE_THE_SOURCE, *(f"src/{name}" for name in source)}


@pytest.mark.slow(0.5)
def test_links_of_the_description_lead_to_the_repository_at_this_version(distributions: Mapping[str, Path]) -> None:
    """The package index shows README.md, which has links to files beside it."""
    with zipfile.ZipFile(distributions["wheel"]) as wheel:
        (name,) = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
        text = message_from_bytes(wheel.read(name)).get_payload()
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", str(text))
    place = {"": f"{PROJECT['urls']['Repository']}/blob/v{PROJECT['version']}/"}
    place["!"] = place[""].replace("github.com", "raw.githubusercontent.com").replace("/blob", "")
    inside = [link.removeprefix(place[kind]).partition("#")[0] for kind, link in links if link.startswith(place[kind])]
    assert [link for kind, link in links if not link.startswith(("https://", "#"))] == []
    assert len(inside) > 3
    assert [path for path in inside if not (ROOT / path).exists()] == []


def test_they_are_small(distributions: Mapping[str, Path]) -> None:
    assert max(path.stat().st_size for path in distributions.values()) <= _LARGEST


@pytest.mark.slow(3)
def test_the_same_sources_make_the_same_files_byte_by_byte(
    distributions: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "elsewhere"
    for name in (*_BESIDE_THE_SOURCE - {"PKG-INFO"}, *(f"src/{each}" for each in source_files())):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name, follow_symlinks=False)
        if not (copy / name).is_symlink():
            os.chmod(copy / name, 0o600 | (ROOT / name).stat().st_mode & 0o100)
    again = build(copy, tmp_path)
    assert {kind: path.read_bytes() == distributions[kind].read_bytes() for kind, path in again.items()} == {
        "wheel": True,
        "sdist": True,
    }
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with zipfile.ZipFile(build(copy, tmp_path)["wheel"]) as wheel:
        assert {each.date_time for each in wheel.infolist()} == {(2023, 11, 14, 22, 13, 20)}


@pytest.mark.slow(3)
def test_the_sdist_makes_the_same_wheel(distributions: Mapping[str, Path], tmp_path: Path) -> None:
    with tarfile.open(distributions["sdist"]) as sdist:
        sdist.extractall(tmp_path, filter="data")
    made = build(tmp_path / distributions["sdist"].name.removesuffix(".tar.gz"), tmp_path)
    assert made["wheel"].read_bytes() == distributions["wheel"].read_bytes()


def test_the_version_stands_in_one_place(distributions: Mapping[str, Path]) -> None:
    assert distributions["wheel"].name == f"smlocal-{PROJECT['version']}-py3-none-any.whl"
    asked = ["git", "grep", "--files-with-matches", "--fixed-strings", "--word-regexp", PROJECT["version"]]
    found = subprocess.run(
        [*asked, "--", "src/smlocal", "action.yml", ".github", "Dockerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    # 1: nothing was found.
    assert (found.returncode, found.stdout) == (1, "")


def test_the_extra_all_has_every_extra_and_the_page_explains_each() -> None:
    extras = PROJECT["optional-dependencies"]
    (every,) = extras["all"]
    assert every == f"smlocal[{','.join(sorted(set(extras) - {'all'}))}]"
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert {name for name in extras if f"| `{name}` |" not in page} == set()


@pytest.mark.slow(5)
def test_the_package_index_takes_them(tmp_path: Path) -> None:
    """`scripts/dist` is what a release builds with."""
    outside = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(
        [ROOT / "scripts" / "dist", tmp_path], env=outside, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("PASSED") == len(done.stdout.splitlines()) == 2
    assert {Path(line) for line in done.stdout.splitlines()} == set(tmp_path.iterdir())


@pytest.mark.engine
@pytest.mark.slow(8)
@pytest.mark.long
def test_a_tool_runner_runs_a_job_with_nothing_but_the_wheel(
    distributions: Mapping[str, Path],
    tmp_path: Path,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    """What `uvx smlocal` and `pipx run smlocal` do."""
    skip_without_an_index(tmp_path)
    run_uv = '. scripts/lib/setup.sh; see_to_tools "$(find_python)"; uv=$uv; cd "$1"; exec "$uv" "${@:2}"'
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    outside |= {"UV_TOOL_DIR": str(tmp_path / "tools"), "SMLOCAL_HOME": str(tmp_path / "home")}

    def smlocal(*arguments: str) -> "subprocess.CompletedProcess[str]":
        tool = ("tool", "run", "--quiet", "--from", str(distributions["wheel"]), "smlocal")
        command = ["bash", "-c", run_uv, "bash", str(tmp_path), *tool, *arguments]
        return subprocess.run(command, cwd=ROOT, env=outside, capture_output=True, text=True, check=False, timeout=280)

    said = smlocal("--version")
    assert (said.returncode, said.stdout) == (0, f"smlocal {PROJECT['version']}\n"), said.stderr
    for command in (("serve",), ("exec", "--", "true")):
        refused = smlocal(*command)
        assert (refused.returncode, "pip install 'smlocal[serve]'" in refused.stderr) == (3, True), refused.stderr
    job = ("--name", "of-the-wheel", "--output", "out", "--env", "SCRIPT=true", "--json")
    done = smlocal("run", "--image", image("sh"), *job)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["TrainingJobStatus"] == "Completed"
    assert_nothing_left("of-the-wheel")


def skip_without_an_index(folder: Path) -> None:
    """One small package shows whether pip reaches an index; without one there is nothing to install from."""
    quick = ("--retries", "0", "--timeout", "20")
    command = [sys.executable, *PIP, *quick, "download", "--no-deps", "--dest", str(folder / "tried"), "click"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if asked.returncode:
        pytest.skip(f"pip reaches no index: {asked.stderr.strip().splitlines()[-1]}")


@pytest.mark.slow(41)
@pytest.mark.long
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_installs_with_every_extra(
    kind: str,
    distributions: Mapping[str, Path],
    empty: Run,
    tmp_path: Path,
) -> None:
    skip_without_an_index(tmp_path)
    installed = empty(*PIP, "install", f"{distributions[kind]}[all]")
    assert installed.returncode == 0, installed.stderr
    checked = empty(*PIP, "check")
    assert checked.returncode == 0, checked.stdout
    imported = empty("-c", _EVERY_MODULE)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.startswith(str(tmp_path / "venv"))
    said = subprocess.check_output([tmp_path / "venv" / "bin" / "smlocal", "--version"], text=True, timeout=60)
    assert said == f"smlocal {PROJECT['version']}\n"
