"""The allowed imports between rooms: `tests/rooms.toml` has them, and `docs/architecture.md` what each room does."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from tests.tiers import may_import

from smlocal.jobs.kind import FOLDERS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "smlocal"
CONTAINER = SOURCE / "jobs" / "data_parallel" / "container_package"
"""It runs in containers, where smlocal is not."""
MODULES = sorted({path for path in SOURCE.rglob("*.py") if path.stat().st_size} - {*CONTAINER.rglob("*.py")})
LONGEST = 600
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}

MAY_IMPORT = may_import()
DOORS = {
    ("data/channels", "engine"): "smlocal.engine.interface",
    ("jobs/credentials", "engine"): "smlocal.engine.interface",
    ("data/artifacts", "engine"): "smlocal.engine.interface",
    ("cli", "data/channels"): "smlocal.data.channels.cache.eviction",
    ("data/channels", "jobs/store"): "smlocal.jobs.store.home",
    ("cli", "jobs/store"): "smlocal.jobs.store.home",
    ("jobs/planning", "engine"): "smlocal.engine.facts",
}
"""Only this module of these rooms may be imported by those."""
OF_ALL = {"base"}
"""May be imported by every room, as if it were of the standard library."""
OF_A_PLAN = {
    f"smlocal.{each}"
    for each in ("sagemaker.training.plan", "sagemaker.training.notes", "ai_platform.planning_of_jobs")
}
"""The modules that compute the plans of the platforms."""
KNOWN_BY = {"sagemaker.training": 13, "sagemaker.hosting": 4}
"""How many modules outside of a kind's folder import from it, if they are more than three."""
STARTERS = {"__init__": {"api", "errors"}, "__main__": {"cli", "jobs"}}


def room_of(module: str) -> str:
    """`smlocal.jobs.store.records` to `jobs/store`: the longest name in the table that it begins with.

    The modules that look at the machine are a room of their own, whatever the aspect of a job that they are about.
    """
    path = module.split(".")[1:]
    if path[:3] == ["jobs", "planning", "aspects"] and path[-1].startswith("look"):
        return "jobs/planning/look"
    rooms = ("/".join(path[:length]) for length in range(len(path), 0, -1))
    return next((room for room in rooms if room in MAY_IMPORT), path[0])


def dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts if parts[-1] != "__init__" or len(parts) == 2 else parts[:-1])


def is_module(name: str) -> bool:
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module of ours that is imported, anywhere in the text: in functions and under TYPE_CHECKING too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            inner = [f"{module}.{alias.name}" for alias in node.names]
            names = [name if name.startswith("smlocal.") and is_module(name) else module for name in inner]
        else:
            continue
        yield from (name for name in names if name.startswith("smlocal."))


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    return tuple(imports(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.mark.slow(0.5)
def test_a_room_imports_only_what_it_may() -> None:
    wrong = []
    for path in MODULES:
        module = dotted(path)
        room = room_of(module) if module.count(".") else "__init__"
        allowed = {**MAY_IMPORT, **STARTERS}[room]
        for imported in imports_of(path):
            target = room_of(imported)
            if target in {room, *OF_ALL}:
                continue
            door = DOORS.get((room, target), imported)
            if target not in allowed or imported != door:
                wrong.append(f"{module} imports {imported}")
    assert wrong == []


@pytest.mark.parametrize("kind", sorted({folder.removeprefix("smlocal.") for folder in FOLDERS.values()}))
def test_few_modules_know_a_kind(kind: str) -> None:
    """Others ask its row. A kind may build on another one."""
    folder = f"smlocal.{kind}"
    known = {
        dotted(path)
        for path in MODULES
        if any(each == folder or each.startswith(f"{folder}.") for each in imports_of(path))
    }
    outside = {name for name in known if not name.startswith(f"{folder}.")}
    assert len(outside) <= KNOWN_BY.get(kind, 3), outside


def test_the_reader_of_imports_sees_lazy_ones_and_those_for_types() -> None:
    text = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from smlocal.jobs.planning.model import JobPlan
def f():
    from smlocal import errors
    import smlocal.engine.docker
"""
    assert list(imports(ast.parse(text))) == ["smlocal.jobs.planning.model", "smlocal.errors", "smlocal.engine.docker"]


def in_circles(wanted: Mapping[str, set[str]]) -> list[str]:
    left = dict(wanted)
    while leaves := {module for module, imported in left.items() if not imported & left.keys()}:
        left = {module: imported for module, imported in left.items() if module not in leaves}
    return sorted(left)


@pytest.mark.slow(0.5)
def test_no_module_imports_itself_by_way_of_others() -> None:
    circles = in_circles({dotted(path): set(imports_of(path)) for path in MODULES})
    assert not circles, f"circles, type-only imports included: {circles}"


def test_nor_does_a_module_of_the_package_in_containers() -> None:
    wanted: dict[str, set[str]] = {}
    for path in CONTAINER.rglob("*.py"):
        found = wanted.setdefault(str(path.with_suffix("")), set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                found |= {str(folder), *(str(folder / alias.name) for alias in node.names)}
    assert sum(map(len, wanted.values())) > len(wanted)
    assert in_circles(wanted) == []


def test_every_room_has_a_row() -> None:
    there = {room_of(dotted(path)) if path.parent != SOURCE else path.stem for path in MODULES}
    assert there == {*MAY_IMPORT, *STARTERS}
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("\n## The rooms\n")[2]
    assert re.findall(r"^\| `([\w/]+)` \|", page, flags=re.MULTILINE) == list(MAY_IMPORT)


def test_a_room_imports_only_rooms_above_it() -> None:
    order = list(MAY_IMPORT)
    for room, allowed in MAY_IMPORT.items():
        assert all(order.index(other) < order.index(room) for other in allowed), room


def test_the_page_names_the_doors() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [door for door in DOORS.values() if f"`{door.removeprefix('smlocal.')}`" not in page] == []


def test_modules_are_small_and_named_for_what_they_do() -> None:
    lengths = {dotted(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {module: lines for module, lines in lengths.items() if lines > LONGEST} == {}
    assert [path for path in MODULES if NAMES_THAT_SAY_NOTHING & {*path.stem.split("_"), path.parent.name}] == []


@pytest.mark.parametrize("path", sorted(CONTAINER.rglob("*.py")), ids=lambda path: str(path.relative_to(CONTAINER)))
def test_what_runs_in_containers_is_free_of_smlocal_and_readable_by_old_pythons(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) if not node.level]
    assert [name for name in names if name.partition(".")[0] == "smlocal"] == []


@pytest.mark.slow(0.5)
def test_what_computes_a_plan_imports_nothing_that_looks_at_the_machine() -> None:
    left = {dotted(path): set(imports(ast.parse(path.read_text(encoding="utf-8")))) for path in MODULES}
    looks = {module for module in left if room_of(module) == "jobs/planning/look"}
    pure = {module for module in left if room_of(module) == "jobs/planning" or module in OF_A_PLAN}
    assert looks
    assert pure
    while more := {module for module in left if left[module] & looks} - looks:
        looks |= more
    assert sorted(pure & looks) == []
