"""`smlocal cache`, on a cache that was filled without S3 and without an engine."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.unit.cli.test_imports import HEAVY, imported
from tests.unit.data.channels.cache.shelf import Shelf

from smlocal.data.channels.cache.folder import Cache


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Two downloads; a job uses the one from `used/`."""
    shelf = Shelf(cache=Cache(home=str(tmp_path)))
    shelf.get_tree({"a": b"a" * 1024, "b": b"b" * 1024}, prefix="used/", job="my-job")
    idle = shelf.get_tree({"c": b"c" * 3072}, prefix="idle/", job="ended")
    assert idle is not None
    shelf.end("ended")
    shelf.age(idle, 3600)
    return shelf


def document(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)["Cache"]
    return found


def uris(smlocal: Run) -> list[str]:
    return [each["Uri"] for each in document(smlocal("cache", "ls", "--json"))["Downloads"]]


@pytest.mark.slow(0.5)
def test_the_table_shows_the_last_used_first(shelf: Shelf, smlocal: Run) -> None:
    done = smlocal("cache", "ls")
    assert done.returncode == 0
    head, used, idle = (line.split() for line in done.stdout.splitlines())
    assert head[:3] == ["SOURCE", "OBJECTS", "SIZE"]
    assert (used[:4], used[-1]) == (["s3://bucket/used/", "2", "2.0", "KiB"], "my-job")
    assert idle[:4] == ["s3://bucket/idle/", "1", "3.0", "KiB"]
    assert done.stderr == f"5.0 KiB of 20 GiB in {shelf.root}\n"


@pytest.mark.slow(0.5)
def test_the_document_has_the_same(shelf: Shelf, smlocal: Run) -> None:
    found = document(smlocal("cache", "ls", "--json"))
    assert (found["Directory"], found["Bytes"], found["Limit"]) == (str(shelf.root), 5 * 1024, 20 * 2**30)
    used, idle = found["Downloads"]
    assert (used["Uri"], used["Objects"], used["Bytes"], used["InUseBy"]) == ("s3://bucket/used/", 2, 2048, ["my-job"])
    assert (idle["Uri"], idle["InUseBy"]) == ("s3://bucket/idle/", [])
    assert used["LastUsed"] > idle["LastUsed"] > 0


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("pattern", ["s3://bucket/idle/", "s3://bucket/idle", "s3://*/idle/", "s3://bucket/idl?/"])
def test_a_prefix_or_a_pattern_removes(pattern: str, shelf: Shelf, smlocal: Run) -> None:
    done = smlocal("cache", "rm", pattern)
    assert (done.returncode, done.stderr) == (0, "removed s3://bucket/idle/ (3.0 KiB)\n")
    assert uris(smlocal) == ["s3://bucket/used/"]
    assert document(smlocal("cache", "ls", "--json"))["Bytes"] == 2048
    assert sorted(path.name for path in shelf.root.iterdir()) == ["blobs", "lock", "partial", "trees"]


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize("words", [("--all",), ("s3://bucket",)], ids=" ".join)
def test_what_a_job_uses_stays_and_the_rest_goes(words: tuple[str, ...], smlocal: Run) -> None:
    done = smlocal("cache", "rm", *words)
    assert done.returncode == 2
    assert "error: 1 of 2 downloads are kept, because running jobs use them" in done.stderr
    assert "[cache-in-use]" in done.stderr
    assert "s3://bucket/used/: my-job" in done.stderr
    assert uris(smlocal) == ["s3://bucket/used/"]


def test_everything_goes_when_nobody_uses_it(shelf: Shelf, smlocal: Run) -> None:
    shelf.end("my-job")
    assert smlocal("cache", "rm", "--all").returncode == 0
    assert document(smlocal("cache", "ls", "--json"))["Bytes"] == 0
    assert not [path for path in shelf.root.rglob("*") if path.is_file() and path.name != "lock"]


def test_damage_is_shown_and_goes_with_all(shelf: Shelf, smlocal: Run) -> None:
    for about in shelf.root.glob("trees/*/about.json"):
        about.write_text("{", encoding="utf-8")
    assert uris(smlocal) == ["", ""]
    assert smlocal("cache", "ls").stdout.count("(damaged)") == 2
    shelf.end("my-job")
    assert smlocal("cache", "rm", "--all").returncode == 0
    assert uris(smlocal) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what to remove: an s3:// prefix, or --all"),
        (("--all", "s3://bucket/idle/"), "say what to remove: an s3:// prefix, or --all"),
        (("s3://bucket/idel/",), "nothing in the cache matches s3://bucket/idel/"),
        (("s3://bucket/idle/", "s3://bucket/i"), "nothing in the cache matches s3://bucket/i"),
    ],
)
@pytest.mark.usefixtures("shelf")
def test_a_mistake_removes_nothing(words: tuple[str, ...], said: str, smlocal: Run) -> None:
    done = smlocal("cache", "rm", *words)
    assert done.returncode == 2
    assert f"error: {said}" in done.stderr
    assert "[usage]" in done.stderr
    assert len(uris(smlocal)) == 2


def test_without_a_home_nothing_is_there_and_nothing_is_made(smlocal: Run, tmp_path: Path) -> None:
    home = tmp_path / "none"
    shown = smlocal("cache", "ls", SMLOCAL_HOME=str(home))
    assert (shown.returncode, shown.stdout) == (0, "")
    assert smlocal("cache", "rm", "--all", SMLOCAL_HOME=str(home)).returncode == 0
    assert smlocal("cache", "rm", "s3://x", SMLOCAL_HOME=str(home)).returncode == 2
    assert not home.exists()


@pytest.mark.slow(0.5)
def test_nothing_heavy_is_imported(shelf: Shelf, tmp_path: Path) -> None:
    for words in (("cache", "--help"), ("cache", "ls"), ("cache", "ls", "--json"), ("cache", "rm", "s3://bucket/idle")):
        assert not imported(tmp_path, *words) & HEAVY
    assert [path.name for path in shelf.root.glob("trees/*/about.json")] == ["about.json"]


def test_ls_is_quick_to_start() -> None:
    """Neither urllib3 nor anything that would be needed to download, not even for the types."""
    done = subprocess.run(
        [sys.executable, "-c", "import smlocal.data.channels.cache.eviction, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"hashlib", "smlocal.data.sources.s3.client", "smlocal.data.channels.download_channel"} & set(
        done.stdout.split()
    )
