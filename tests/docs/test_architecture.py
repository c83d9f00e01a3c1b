"""The names of modules and functions in the pages about the code are real."""

import re
from pathlib import Path

import pytest
from tests.tiers import may_import

from smlocal.jobs.kind import FOLDERS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "smlocal"
ROOMS = {path.stem for path in SOURCE.iterdir()}
MODULE = re.compile(r"`([a-z_]+(?:[./]\w+)+(?:\.py)?)`")
"""In path form or dotted: `jobs/attempt.py`, `jobs.attempt`, `jobs.store.lease.Lease`."""
FUNCTION = re.compile(r"`([A-Za-z_]+(?:\.[a-z_]+)?)`")


def read(page: str) -> str:
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def named_modules(text: str) -> list[str]:
    """Those of smlocal, by their first word."""
    return [name for name in MODULE.findall(text) if re.split(r"[./]", name)[0] in ROOMS]


def is_real(name: str) -> bool:
    """True for a room, a folder, a module, and what a module defines."""
    path = SOURCE / name.removesuffix(".py").replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").exists() or defines(path.parent.with_suffix(".py"), path.name)


def defines(module: Path, name: str) -> bool:
    """True if the text of the module has such a function, class, method or name."""
    if not module.exists():
        return False
    pattern = rf"^(?:\s*(?:async )?(?:def|class) {name}\b|{name}\b.*=)"
    return re.search(pattern, module.read_text(encoding="utf-8"), flags=re.MULTILINE) is not None


@pytest.mark.parametrize("page", ["architecture.md", "decisions.md"])
def test_every_module_that_the_page_names_is_there(page: str) -> None:
    names = named_modules(read(page))
    assert names
    assert [name for name in names if name not in may_import() and not is_real(name)] == []


def steps() -> list[str]:
    """The way of one job, by its numbers."""
    way = read("architecture.md").partition("\n## One job\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. (.+(?:\n +.+)*)", way, flags=re.MULTILINE)


def test_every_step_of_a_job_names_what_is_in_its_modules() -> None:
    assert len(steps()) > 10
    for step in steps():
        modules = [SOURCE / name for name in named_modules(step) if name.endswith(".py")]
        assert modules, step
        for name in FUNCTION.findall(step):
            there = any(all(defines(module, part) for part in name.split(".")) for module in modules)
            assert there or name in ROOMS, (step, name)


def test_each_step_of_a_job_begins_in_a_module_of_its_own() -> None:
    assert [step for step in steps() if not re.match(r"`[a-z_/]+\.py`: ", step)] == []
    first = [step.partition(":")[0] for step in steps()]
    assert len(set(first)) == len(first)


@pytest.mark.parametrize(
    "name", ["jobs/atempt.py", "jobs.attempt.Attempts", "jobs/planning/aspects/nothing", "jobs.store.leases"]
)
def test_a_name_that_is_not_there_is_seen(name: str) -> None:
    assert named_modules(f"`{name}`") == [name]
    assert not is_real(name)


def test_the_page_can_be_read_in_two_screens() -> None:
    """Besides its tables: what is measured or argued belongs on the page of decisions."""
    lines = [line for line in read("architecture.md").splitlines() if line and not line.startswith("|")]
    assert len(lines) <= 130


def test_each_aspect_and_each_kind_has_a_row() -> None:
    page = read("architecture.md")
    aspects, kinds = (page.split(f"| {head} |")[1].partition("\n\n")[0] for head in ("aspect", "kind"))
    folders = {path.name for path in (SOURCE / "jobs/planning/aspects").iterdir() if (path / "__init__.py").exists()}
    assert set(re.findall(r"^\| `(\w+)` \|", aspects, flags=re.MULTILINE)) == folders
    named = {
        f"smlocal.{each.replace('/', '.')}"
        for each in re.findall(r"^\|[^|]+\| `([\w/]+)` \|", kinds, flags=re.MULTILINE)
    }
    assert named == set(FOLDERS.values())
