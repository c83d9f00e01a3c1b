"""Packages that scripts and CI install are locked, with hashes, for every Python that pyproject.toml names."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ROOT / "scripts" / "locks"
EVALUATOR = ROOT / "src" / "smlocal" / "debugger" / "evaluator_image"
HASHED = [*sorted(LOCKS.rglob("*.txt")), EVALUATOR / "requirements.txt", EVALUATOR / "no-deps.txt"]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [
    each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"] if re.search(r":: Python :: 3\.\d+$", each)
]
NOT_LOCKED = {"torch"}  # its build depends on the machine
_ENTRY = re.compile(
    r"^([A-Za-z0-9][^\s;]*)==([^\s;\\]+)(?: ; ([^\\\n]+?))?((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", re.MULTILINE
)


def entries(lock: Path) -> Iterator[tuple[str, str, str | None, int]]:
    """Name, version, marker and the number of hashes of each package."""
    for found in _ENTRY.finditer(lock.read_text(encoding="utf-8")):
        yield canonicalize_name(found[1]), found[2], found[3], found[4].count("--hash=")


def versions(lock: Path, python: str) -> dict[str, str]:
    """The versions of the packages that a Python on Linux gets."""
    machine = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    machine |= {"platform_system": "Linux", "os_name": "posix", "implementation_name": "cpython"}
    machine |= {"platform_python_implementation": "CPython"}
    chosen = [each for each in entries(lock) if each[2] is None or Marker(each[2]).evaluate(machine)]
    found = {name: version for name, version, _, _ in chosen}
    assert len(found) == len(chosen), f"{lock.name} has a package twice for Python {python}"
    return found


def requirements(file: Path) -> list[str]:
    """The packages that a requirements file names."""
    lines = (line.partition(" #")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith(("#", "--"))]


def missing(asked: list[str], lock: Path, python: str) -> list[str]:
    locked = versions(lock, python)
    wanted = [Requirement(each) for each in asked]
    return [
        str(each)
        for each in wanted
        if each.name not in NOT_LOCKED
        and not each.specifier.contains(locked.get(canonicalize_name(each.name), "0"), prereleases=True)
    ]


@pytest.mark.parametrize("lock", HASHED, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_package_has_hashes_and_no_index_is_named(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    found = list(entries(lock))
    assert found
    assert all(hashes for _, _, _, hashes in found)
    rest = [line for line in _ENTRY.sub("", text).splitlines() if line and not line.startswith("#")]
    assert rest == []
    assert "://" not in text


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("lock", "groups", "extras"),
    [
        ("package", ("build",), False),
        ("dev", ("build", "dev"), True),
        ("tools", ("tools",), None),
        ("audit", ("audit",), None),
        ("release", ("build", "release"), None),
        ("site", ("build", "site"), False),
    ],
)
def test_the_locks_have_what_pyproject_asks_for(
    lock: str, groups: tuple[str, ...], extras: bool | None, python: str
) -> None:
    asked = [each for group in groups for each in PROJECT["dependency-groups"][group]]
    asked += PROJECT["project"]["dependencies"] if extras is not None else []
    asked += (
        [each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra] if extras else []
    )
    # The extra `all` names the others.
    asked = [each for each in asked if not each.startswith("smlocal[")]
    assert missing(asked, LOCKS / f"{lock}.txt", python) == [], "run scripts/lock"


def test_the_locks_have_what_requirements_files_ask_for() -> None:
    clients = [
        *(ROOT / "tests/clients/requirements").glob("*.txt"),
        ROOT / "tests/jobs/rules/requirements-of-rules.txt",
    ]
    assert {file.name for file in clients} == {file.name for file in (LOCKS / "clients").iterdir()}
    pairs = [(file, LOCKS / "clients" / file.name) for file in clients]
    for lock in (LOCKS / "images").iterdir():
        folder = next(
            each.parent
            for each in ROOT.glob("[et]*/**/requirements.txt")
            if "-".join(each.parent.relative_to(ROOT).parts) == lock.stem
        )
        pairs += [(file, lock) for name in ("requirements.txt", "no-deps.txt") if (file := folder / name).exists()]
    assert len(pairs) > len(clients) + 6
    wrong = {str(file): lacking for file, lock in pairs if (lacking := missing(requirements(file), lock, "3.11"))}
    assert wrong == {}, "run scripts/lock"


def test_the_evaluator_is_made_of_what_has_hashes_only() -> None:
    commands = re.findall(r"pip install [^&\n]*", (EVALUATOR / "Dockerfile").read_text(encoding="utf-8"))
    assert len(commands) == 2
    assert all("--require-hashes" in each for each in commands)


def test_the_action_installs_what_has_hashes_only() -> None:
    commands = [
        line for line in (ROOT / "action.yml").read_text(encoding="utf-8").splitlines() if '"${pip[@]}"' in line
    ]
    assert len(commands) == 2
    assert all("--require-hashes" in line or "--no-index" in line for line in commands)


def test_actions_of_others_are_named_by_commit() -> None:
    pages = [ROOT / "action.yml", ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")]
    pages += [*ROOT.glob(".github/**/*.yml"), *ROOT.glob("examples/**/*.yml")]
    used = [
        line
        for page in pages
        for line in re.findall(r"^ *(?:- )?uses: (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    others = [line for line in used if not re.match(r"smlocal/smlocal@v\d+$|\./", line)]
    assert len(others) >= 3
    assert [
        line for line in others if not re.fullmatch(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} +# v[\d.]+(?: .*)?", line)
    ] == []


def test_the_bot_looks_at_all_folders_and_they_are_there() -> None:
    config = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))
    files = {"pip": "*.t*", "github-actions": "action.yml", "docker": "Dockerfile"}
    looked_at: dict[str, set[Path]] = {}
    for each in config["updates"]:
        kind = each["package-ecosystem"]
        found = [list(ROOT.glob(f"{folder}/{files[kind]}".lstrip("/"))) for folder in each["directories"]]
        assert all(found), each["directories"]
        looked_at[kind] = {path for paths in found for path in paths}
    assert looked_at.keys() == files.keys()
    assert looked_at["docker"] == {ROOT / "Dockerfile", *ROOT.glob("[set]*/**/Dockerfile")}
    assert looked_at["pip"] >= {
        path for path in ROOT.glob("[set]*/**/requirements.txt") if path.parent.name != "source"
    }
