import gc
import gzip
import hashlib
import os
import random
import resource
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from isal import igzip

from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.tree import WriteReport, walk
from smlocal.errors import ArtifactError

Plant = Callable[..., Path]
Look = Callable[[Path], dict[bytes, tuple[int, int, bytes]]]
# What GNU tar says of a time to come and of the pax record that announces a name without an encoding.
QUIET = ("--warning=no-timestamp", "--warning=no-unknown-keyword")
FEW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def pack(root: Path, archive: Path, **options: Any) -> WriteReport:
    report = write_archive([walk("algo-1", str(root))], str(archive), **options)
    assert report is not None
    return report


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def half_random(size: int) -> bytes:
    source = random.Random(3)
    return b"".join(source.randbytes(500) + bytes(500) for _ in range(size // 1000))


@pytest.mark.slow(0.5)
@FEW
@given(data=st.data())
def test_gnu_tar_and_python_restore_the_very_tree(
    data: st.DataObject, tmp_path: Path, plant: Plant, look: Look, any_plan: st.SearchStrategy[Mapping[Any, Any]]
) -> None:
    place = tmp_path / uuid4().hex
    tree = plant(place / "tree", data.draw(any_plan))
    archive = place / "model.tar.gz"
    report = write_archive([walk("algo-1", str(tree))], str(archive))
    expected = look(tree)
    if not expected:
        assert report is None
        assert not archive.exists()
        return
    assert report is not None
    assert report.members == len(expected)
    restored = place / "restored"
    restored.mkdir()
    command = ["tar", "-xzpf", str(archive), *QUIET, "-C", str(restored)]
    told = subprocess.run(command, capture_output=True, check=False)
    assert (told.returncode, told.stderr) == (0, b"")
    assert look(restored) == expected

    with tarfile.open(archive, encoding="utf-8", errors="surrogateescape") as members:
        read = {}
        for member in members:
            assert (member.uid, member.gid) == (0, 0)
            kind = stat.S_IFDIR if member.isdir() else stat.S_IFLNK if member.issym() else stat.S_IFREG
            file = members.extractfile(member) if member.isreg() else None
            body = file.read() if file else os.fsencode(member.linkname)
            read[os.fsencode(member.name)] = (kind | member.mode, member.mtime, body)
    assert read == expected


@FEW
@given(data=st.data())
def test_the_same_tree_gives_the_same_bytes(
    data: st.DataObject, tmp_path: Path, plant: Plant, any_plan: st.SearchStrategy[Mapping[Any, Any]]
) -> None:
    plan = data.draw(any_plan.filter(bool))
    place = tmp_path / uuid4().hex
    pack(plant(place / "one", plan), place / "one.tar.gz")
    pack(plant(place / "other", plan, backwards=True), place / "other.tar.gz")
    assert digest(place / "one.tar.gz") == digest(place / "other.tar.gz")


@pytest.mark.slow(0.5)
def test_threads_do_not_change_a_bit(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    content = half_random(9_000_000)
    (tmp_path / "tree" / "weights").write_bytes(content)
    pack(tmp_path / "tree", tmp_path / "first.tar.gz")
    first = (tmp_path / "first.tar.gz").read_bytes()
    for number in range(19):
        pack(tmp_path / "tree", tmp_path / "other.tar.gz")
        other = (tmp_path / "other.tar.gz").read_bytes()
        if other != first:  # what pytest says of two megabytes takes for ever
            at = next(index for index, (one, two) in enumerate(zip(first, other, strict=False)) if one != two)
            alike = gzip.decompress(first) == gzip.decompress(other)
            pytest.fail(f"{number}: {len(first)} and {len(other)} bytes, from {at} on others; same content: {alike}")
    with tarfile.open(tmp_path / "first.tar.gz") as members:
        file = members.extractfile("weights")
        assert file is not None
        assert file.read() == content


def test_the_gzip_header_tells_neither_time_nor_name(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_text("x")
    pack(tmp_path / "tree", tmp_path / "a.tar.gz")
    assert (tmp_path / "a.tar.gz").read_bytes()[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def test_what_is_in_it_is_counted(tmp_path: Path) -> None:
    (tmp_path / "tree" / "empty").mkdir(parents=True)
    (tmp_path / "tree" / "f").write_bytes(bytes(3_000_000))
    seen: list[tuple[int, int]] = []
    report = pack(tmp_path / "tree", tmp_path / "a.tar.gz", progress=lambda done, total: seen.append((done, total)))
    raw = gzip.decompress((tmp_path / "a.tar.gz").read_bytes())
    assert report.bytes_in == len(raw)
    assert report.bytes_out == (tmp_path / "a.tar.gz").stat().st_size
    assert report.members == 2
    assert seen == sorted(seen)
    assert seen[-1] == (3_000_000, 3_000_000)
    assert len(seen) > 3  # also within one big file


def test_nothing_gives_no_archive(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree" / "pipe")
    assert write_archive([walk("algo-1", str(tmp_path / "tree"))], str(tmp_path / "out" / "a.tar.gz")) is None
    assert write_archive([], str(tmp_path / "out" / "a.tar.gz")) is None
    assert not (tmp_path / "out").exists()


def test_an_empty_directory_is_something(tmp_path: Path) -> None:
    (tmp_path / "tree" / "empty").mkdir(parents=True)
    pack(tmp_path / "tree", tmp_path / "a.tar.gz")
    with tarfile.open(tmp_path / "a.tar.gz") as members:
        assert [(member.name, member.isdir()) for member in members] == [("empty", True)]


def test_holes_are_plain_zeros(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree" / "sparse").open("wb") as file:
        file.truncate(5_000_000)
        file.seek(4_000_000)
        file.write(b"end")
    pack(tmp_path / "tree", tmp_path / "a.tar.gz")
    with tarfile.open(tmp_path / "a.tar.gz") as members:
        extracted = members.extractfile("sparse")
        assert extracted is not None
        assert extracted.read() == (tmp_path / "tree" / "sparse").read_bytes()


@pytest.mark.parametrize("change", ["shrinks", "grows"])
def test_a_file_that_changes_meanwhile_breaks_nothing(tmp_path: Path, change: str) -> None:
    (tmp_path / "tree").mkdir()
    file = tmp_path / "tree" / "a"
    content = half_random(6_000_000)
    file.write_bytes(content)
    (tmp_path / "tree" / "b").write_text("after it")
    changed = False

    def meddle(_done: int, _total: int) -> None:
        nonlocal changed
        if not changed:
            changed = True
            os.truncate(file, 3_000_000 if change == "shrinks" else 7_000_000)

    report = pack(tmp_path / "tree", tmp_path / "a.tar.gz", progress=meddle)
    with tarfile.open(tmp_path / "a.tar.gz") as members:
        bodies = {member.name: members.extractfile(member).read() for member in members}  # type: ignore[union-attr]  # all are files
    kept = content[:3_000_000] + bytes(3_000_000) if change == "shrinks" else content
    assert bodies == {"a": kept, "b": b"after it"}
    assert len(report.notes) == 1
    assert report.notes[0].startswith(f"algo-1: a {'shrank' if change == 'shrinks' else 'grew'}")


def test_what_vanishes_or_turns_into_something_else_is_noted(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("gone", "kept", "link", "pipe"):
        (root / name).write_text(name)
    tree = walk("algo-1", str(root))
    for name in ("gone", "link", "pipe"):
        (root / name).unlink()
    (root / "link").symlink_to("/etc/passwd")
    os.mkfifo(root / "pipe")
    report = write_archive([tree], str(tmp_path / "a.tar.gz"))
    assert report is not None
    assert report.members == 1
    assert [note.split()[1] for note in report.notes] == ["gone", "link", "pipe"]
    with tarfile.open(tmp_path / "a.tar.gz") as members:
        assert members.getnames() == ["kept"]


def test_a_full_disk_is_told_as_the_service_tells_it(tmp_path: Path, small_disk: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_bytes(random.Random(1).randbytes(6_000_000))
    with pytest.raises(ArtifactError) as caught:
        pack(tmp_path / "tree", small_disk / "job" / "output" / "model.tar.gz")
    assert caught.value.sentence == "Artifact upload failed:Insufficient disk space"
    assert (caught.value.id, caught.value.exit_code) == ("artifact-write", 1)
    assert list((small_disk / "job" / "output").iterdir()) == []


def test_an_output_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_text("x")
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ArtifactError, match=r"^Artifact upload failed:Not a directory$"):
        pack(tmp_path / "tree", tmp_path / "out" / "job" / "model.tar.gz")


def test_an_interruption_leaves_the_archive_of_before(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_bytes(half_random(6_000_000))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.tar.gz").write_text("earlier")

    def interrupt(done: int, _total: int) -> None:
        names = [path.name for path in (tmp_path / "out").iterdir()]
        assert len(names) == 2
        assert all(name == "a.tar.gz" or name.startswith(".") for name in names)
        if done > 2_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(tmp_path / "tree", tmp_path / "out" / "a.tar.gz", progress=interrupt)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.tar.gz"]
    assert (tmp_path / "out" / "a.tar.gz").read_text() == "earlier"
    pack(tmp_path / "tree", tmp_path / "out" / "a.tar.gz")
    assert tarfile.is_tarfile(tmp_path / "out" / "a.tar.gz")


def test_hard_links_stay_links(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "d").mkdir(parents=True)
    (tree / "b").write_bytes(os.urandom(100_000))
    for name in ("a", "d/c", f"d/{'n' * 120}"):
        (tree / name).hardlink_to(tree / "b")
    (tmp_path / "outside").hardlink_to(tree / "b")
    seen: list[tuple[int, int]] = []
    report = pack(tree, tmp_path / "m.tar.gz", progress=lambda done, total: seen.append((done, total)))
    assert report.members == 5
    assert report.bytes_out < 110_000
    assert seen[-1] == (100_000, 100_000)
    with tarfile.open(tmp_path / "m.tar.gz") as archive:
        assert {each.name: each.linkname for each in archive if each.islnk()} == dict.fromkeys(
            ("b", "d/c", f"d/{'n' * 120}"), "a"
        )
    (tmp_path / "out").mkdir()
    subprocess.run(["tar", "-xf", tmp_path / "m.tar.gz", "-C", tmp_path / "out"], check=True)
    assert (tmp_path / "out" / "d" / "c").read_bytes() == (tree / "b").read_bytes()
    assert (tmp_path / "out" / "a").stat().st_nlink == 4


def test_a_hard_link_whose_first_name_is_another_hosts_is_a_file(tmp_path: Path) -> None:
    for host, name in (("1", "a"), ("2", "a")):
        (tmp_path / host).mkdir()
        (tmp_path / host / name).write_text(host)
    (tmp_path / "1" / "b").hardlink_to(tmp_path / "1" / "a")
    (tmp_path / "1" / "c").hardlink_to(tmp_path / "1" / "a")
    write_archive([walk(host, str(tmp_path / host)) for host in ("1", "2")], str(tmp_path / "m.tar.gz"))
    with tarfile.open(tmp_path / "m.tar.gz") as archive:
        assert [(each.name, each.linkname) for each in archive] == [("a", ""), ("b", ""), ("c", "b")]
        assert [archive.extractfile(name).read() for name in "abc"] == [b"2", b"1", b"1"]  # type: ignore[union-attr]


def high_water_mark(tree: Path, archive: Path) -> int:
    """Bytes of memory that a process of its own takes to pack a tree."""
    code = (
        "import resource, sys\n"
        "from smlocal.data.artifacts.archive import write_archive\n"
        "from smlocal.data.artifacts.tree import walk\n"
        "write_archive([walk('algo-1', sys.argv[1])], sys.argv[2])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", code, str(tree), str(archive)]
    # The high-water mark of a child starts at its parent's; a shell in between keeps pytest's out of it.
    done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *command], capture_output=True, text=True, check=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow(0.5)
def test_memory_does_not_grow_with_the_data(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree" / "f").open("wb") as file:
        for _ in range(8):
            file.write(os.urandom(4 << 20))
        file.truncate(300 << 20)
    assert high_water_mark(tmp_path / "tree", tmp_path / "a.tar.gz") < 60_000_000


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    for number in range(50):
        (tmp_path / "tree" / str(number)).write_text("x")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    gc.collect()  # what other tests dropped must not go while we count
    before = len(os.listdir("/dev/fd"))
    pack(tmp_path / "tree", tmp_path / "a.tar.gz")
    assert len(os.listdir("/dev/fd")) == before
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == limit


@pytest.mark.slow
@pytest.mark.long
def test_a_file_larger_than_the_old_field_for_sizes_can_say(tmp_path: Path) -> None:
    size = 9 << 30
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree" / "large").open("wb") as file:
        file.truncate(size - 3)
        file.seek(size - 3)
        file.write(b"end")
    (tmp_path / "tree" / "next").write_text("after it")
    report = pack(tmp_path / "tree", tmp_path / "a.tar.gz")
    assert report.notes == ()
    # gzip itself would take a minute, and tar as long to read what it may skip in a file.
    zeros = bytes(1 << 20)
    packed = igzip.open(tmp_path / "a.tar.gz")  # type: ignore[no-untyped-call]  # published without types
    with packed, (tmp_path / "a.tar").open("wb") as plain:
        while piece := packed.read(len(zeros)):
            if piece == zeros:
                plain.seek(len(piece), os.SEEK_CUR)
            else:
                plain.write(piece)
        plain.truncate()
    listed = subprocess.run(["tar", "-tvf", tmp_path / "a.tar"], capture_output=True, text=True, check=True)
    assert [(line.split()[2], line.split()[-1]) for line in listed.stdout.splitlines()] == [
        (str(size), "large"),
        ("8", "next"),
    ]


class Reader:
    """Reads an archive while it is written, as the upload does."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.read = b""
        self.most = 0
        self.file: BinaryIO | None = None

    def archive_started(self, name: str, path: str, most: int) -> None:
        self.told.append(f"started {name}")
        self.file = open(path, "rb")  # noqa: SIM115  it stays open for as long as the archive grows
        self.most = most

    def archive_grew(self, size: int) -> None:
        assert self.file is not None
        piece = self.file.read(size - len(self.read))
        self.read += piece
        assert len(self.read) == size

    def archive_finished(self) -> None:
        self.told.append("finished")
        self._close()

    def archive_failed(self) -> None:
        self.told.append("failed")
        self._close()

    def _close(self) -> None:
        assert self.file is not None
        self.file.close()


def test_a_reader_can_read_every_byte_that_is_reported(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    for name, content in {"weights": half_random(9_000_000), "zeros": bytes(5_000_000), "small": b"x"}.items():
        (tmp_path / "tree" / name).write_bytes(content)
    reader = Reader()
    pack(tmp_path / "tree", tmp_path / "followed.tar.gz", reader=reader)
    pack(tmp_path / "tree", tmp_path / "alone.tar.gz")
    assert reader.told == ["started followed.tar.gz", "finished"]
    assert reader.read == (tmp_path / "followed.tar.gz").read_bytes() == (tmp_path / "alone.tar.gz").read_bytes()
    assert len(reader.read) <= reader.most


def test_data_that_cannot_be_compressed_stays_below_the_announced_size(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "noise").write_bytes(random.Random(1).randbytes(8_000_000))
    for number in range(500):
        (tmp_path / "tree" / f"{number}").write_bytes(random.Random(number).randbytes(700))
    reader = Reader()
    report = pack(tmp_path / "tree", tmp_path / "a.tar.gz", reader=reader)
    assert report.bytes_out <= reader.most


def test_a_reader_is_told_that_the_archive_failed(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_bytes(half_random(6_000_000))
    reader = Reader()

    def interrupt(done: int, _total: int) -> None:
        if done > 2_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(tmp_path / "tree", tmp_path / "a.tar.gz", reader=reader, progress=interrupt)
    assert reader.told == ["started a.tar.gz", "failed"]


@pytest.mark.slow
def test_many_small_files(tmp_path: Path) -> None:
    for folder in range(20):
        (tmp_path / "tree" / f"{folder:02}").mkdir(parents=True)
        for number in range(500):
            (tmp_path / "tree" / f"{folder:02}" / f"{number:03}").write_bytes(b"%d" % number)
    # A few hundred bytes for each name, so that 100,000 are no trouble either.
    assert high_water_mark(tmp_path / "tree", tmp_path / "a.tar.gz") < 40_000_000
    listed = subprocess.run(["tar", "-tzf", str(tmp_path / "a.tar.gz")], capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 10_020
