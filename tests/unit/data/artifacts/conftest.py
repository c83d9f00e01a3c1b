"""Trees of files to be archived, made from a description that hypothesis can make up."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import strategies as st
from tests.unit.data.artifacts.mirror.mirror_rig import Rig, Rigs

from smlocal.data.artifacts.mirror import file_copier, host_mirror

NAMES = st.binary(min_size=1, max_size=12).filter(lambda n: b"/" not in n and b"\0" not in n and n not in {b".", b".."})
NAMES |= st.text("aé-. *\n", min_size=90, max_size=110).map(str.encode).filter(lambda n: n.strip(b".") != b"")
UNREADABLE = [0o000] if os.geteuid() == 0 else []
MODES = st.sampled_from([0o644, 0o600, 0o755, 0o444, 0o4755, 0o1777, *UNREADABLE])


@dataclass(frozen=True)
class Planned:
    """One thing to make: a directory (content None), a file, or a link (target)."""

    mode: int = 0o644
    content: bytes | None = None
    target: bytes | None = None
    mtime: int = 1_500_000_000


Plan = Mapping[tuple[bytes, ...], Planned]

LEAVES = st.one_of(
    st.builds(Planned, mode=MODES, content=st.binary(max_size=2000), mtime=st.integers(0, 2**31)),
    st.builds(
        Planned,
        target=st.binary(min_size=1, max_size=120).filter(lambda n: b"\0" not in n),
        mtime=st.integers(0, 2**31),
    ),
    st.builds(Planned, mode=MODES.map(lambda mode: mode | 0o700), mtime=st.integers(0, 2**31)),
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any small tree: leaves at paths whose parents become directories."""
    plan: dict[tuple[bytes, ...], Planned] = {}
    for path, leaf in draw(st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=3), LEAVES), max_size=8)):
        parents = [tuple(path[:depth]) for depth in range(1, len(path))]
        if any(p in plan and (plan[p].content is not None or plan[p].target is not None) for p in parents):
            continue
        for parent in parents:
            plan.setdefault(parent, Planned(mode=0o755))
        plan.setdefault(tuple(path), leaf)
    return plan


def plant_tree(root: Path, plan: Plan, *, backwards: bool = False) -> Path:
    """Make the planned tree, in one order or another."""
    root.mkdir(parents=True)
    base = os.fsencode(root)
    for path, leaf in sorted(plan.items(), key=lambda item: (len(item[0]), item[0])):
        if leaf.content is None and leaf.target is None:
            os.mkdir(os.path.join(base, *path))
    for path, leaf in sorted(plan.items(), reverse=backwards):
        where = os.path.join(base, *path)
        if leaf.target is not None:
            os.symlink(leaf.target, where)
        elif leaf.content is not None:
            Path(os.fsdecode(where)).write_bytes(leaf.content)
    for path, leaf in sorted(plan.items(), key=lambda item: -len(item[0])):
        where = os.path.join(base, *path)
        if leaf.target is None:
            os.chmod(where, leaf.mode)
        os.utime(where, (leaf.mtime + backwards, leaf.mtime), follow_symlinks=False)
    return root


def look_at(root: Path) -> dict[bytes, tuple[int, int, bytes]]:
    """Everything below `root` as an archive keeps it: mode, time, and content or target."""
    seen = {}
    base = os.fsencode(root)
    for folder, directories, files in os.walk(base):
        for name in (*directories, *files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            body = b""
            if stat.S_ISLNK(status.st_mode):
                body = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                body = Path(os.fsdecode(path)).read_bytes()
            seen[os.path.relpath(path, base)] = (status.st_mode, status.st_mtime_ns // 10**9, body)
    return seen


@pytest.fixture(scope="session")
def plant() -> Callable[..., Path]:
    return plant_tree


@pytest.fixture(scope="session")
def look() -> Callable[[Path], dict[bytes, tuple[int, int, bytes]]]:
    return look_at


@pytest.fixture(scope="session")
def planned() -> type[Planned]:
    return Planned


@pytest.fixture(scope="session")
def any_plan() -> st.SearchStrategy[Plan]:
    return plans()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"cannot mount here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rigs]:
    """Makes mirrors that copy the same file again sooner than in earnest."""
    monkeypatch.setattr(host_mirror, "REPEAT_SECONDS", 0.1)
    if sys.platform != "linux":  # which alone tells what changes, and whether it is being written
        monkeypatch.setattr(host_mirror, "SCAN_SECONDS", 0.2)
        monkeypatch.setattr(file_copier, "_QUIET_SECONDS", 0.2)
    made: list[Rig] = []

    def make(hosts: int = 1, *, grows: bool = False) -> Rig:
        made.append(Rig(tmp_path / f"rig-{len(made)}", hosts, grows=grows))
        return made[-1]

    yield make
    for each in made:
        each.close()
