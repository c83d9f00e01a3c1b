"""Archives of somebody else: none gets out of its folder, takes much memory, or ends in an error that is not ours."""

import gzip
import io
import os
import re
import stat
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.base.foreign_archive.foreign_archives import (
    BLOCK,
    MEMORY,
    header,
    in_small_process,
    packed,
    padded,
    pax,
    pieces,
    regular,
    with_checksum,
)

from smlocal.api.artifact import Artifact
from smlocal.base.files import remove_tree
from smlocal.base.foreign_archive.archive import ArchiveLimits, ForeignArchive, unpack
from smlocal.base.foreign_archive.stream import ArchiveError, least_unpacked
from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.sagemaker.creating import submitted_code
from smlocal.errors import ConformanceDocumentError
from smlocal.report.job_report import read_contents
from smlocal.service.compare.subject import read_archive
from smlocal.service.conformance.reading import collect

SOURCE = Path(__file__).resolve().parents[4] / "src" / "smlocal"
DAMAGED = int(os.environ.get("SMLOCAL_DAMAGED_ARCHIVES", "300"))
SYMBOLIC, HARD, FOLDER = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
MUCH = 100 << 20
LITTLE = 32 << 20
OF_NAMES = 80 << 20
"""The most that may be kept of the names of one archive, which are the requested ones."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder to unpack into, beside files that must not be touched."""
    world = tmp_path / "world"
    (world / "outside").mkdir(parents=True)
    (world / "outside" / "secret").write_text("secret")
    (world / "code").mkdir()
    return world / "code"


@pytest.fixture
def submit(tmp_path: Path) -> Callable[[bytes], dict[str, bytes]]:
    """Sends code as an SDK does; gives the files of /opt/ml/code."""
    bucket = tmp_path / "buckets" / "bucket"
    bucket.mkdir(parents=True)
    serving: Any = SimpleNamespace(
        home=str(tmp_path / "home"), buckets=str(bucket.parent), store=SimpleNamespace(names=list)
    )
    request = {"HyperParameters": {"sagemaker_submit_directory": '"s3://bucket/sourcedir.tar.gz"'}}

    def send(content: bytes) -> dict[str, bytes]:
        (bucket / "sourcedir.tar.gz").write_bytes(content)
        with submitted_code(serving, "job", request) as folder:
            assert folder is not None
            return contents(Path(folder))

    return send


def contents(folder: Path) -> dict[str, bytes]:
    """By path: every file."""
    assert not [path for path in folder.rglob("*") if path.is_symlink()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def unpacked(content: bytes, place: Path, *, most: int = 1000) -> dict[str, bytes]:
    """The files in the folder afterwards, which is empty before; those beside it are as they were."""
    remove_tree(str(place))
    place.mkdir()
    try:
        unpack(ForeignArchive(pieces(content)), str(place), most_paths=most)
    finally:
        beside = place.parent
        assert sorted(path.name for path in beside.iterdir()) == ["code", "outside"]
        assert contents(beside / "outside") == {"secret": b"secret"}
        assert not [path for path in place.rglob("*") if path.is_symlink()]
    return contents(place)


def long_chain() -> Iterator[bytes]:
    """Names that a check finds inside because they are too long to resolve, and that the kernel takes outside."""
    path = ""
    for letter in "abcdefghijklmnop":
        folder = "d" * 247
        yield pax(("path", f"{path}{folder}")) + header("x", FOLDER)
        yield pax(("path", f"{path}{letter}"), ("linkpath", folder)) + header("x", SYMBOLIC)
        path += f"{letter}/"
    yield pax(("path", f"{path}{'l' * 254}"), ("linkpath", "../" * 16)) + header("x", SYMBOLIC)
    yield pax(("path", "escape"), ("linkpath", f"{path}{'l' * 254}/../outside")) + header("x", SYMBOLIC)
    yield header("gift", HARD, link="escape/secret")
    yield regular("gift", b"overwritten")


ESCAPES = {
    "a link to a folder outside": [header("d", SYMBOLIC, link="../outside"), regular("d/secret", b"x")],
    "an absolute link": [header("d", SYMBOLIC, link="/"), regular("d/tmp/x", b"x")],
    "a folder that becomes a link": [
        header("d/", FOLDER),
        header("d", SYMBOLIC, link="../outside"),
        regular("d/secret", b"x"),
    ],
    "a link to itself": [header("a", SYMBOLIC, link="."), header("a/a/b", SYMBOLIC, link="..")],
    "a chain of links": [
        header("a", SYMBOLIC, link="."),
        header("b", SYMBOLIC, link="a/.."),
        header("c", SYMBOLIC, link="b/outside"),
        regular("c/secret", b"x"),
    ],
    "a chain that is too long to resolve": list(long_chain()),
    "a hard link to a file outside": [header("s", HARD, link="../outside/secret"), regular("s", b"x")],
    "a hard link to an absolute path": [header("s", HARD, link="/etc/passwd")],
    "a hard link to a link": [header("l", SYMBOLIC, link="../outside/secret"), header("s", HARD, link="l")],
    "a hard link to a folder": [header("d/", FOLDER), header("s", HARD, link="d")],
    "a name with dots": [regular("../outside/secret", b"x")],
    "a name with dots inside": [header("d/", FOLDER), regular("d/../../outside/secret", b"x")],
    "a name that is dots": [regular("..", b"x")],
    "a folder that is dots": [header("../", FOLDER)],
    "no name": [regular("./", b"").replace(b"./", b"..", 1)],
    "a prefix with dots": [regular("x", b"")[:257] + b"ustar\x0000" + bytes(80) + b"../../outside" + bytes(154)],
    "a FIFO": [header("f", tarfile.FIFOTYPE)],
    "a device": [header("f", tarfile.CHRTYPE)],
    "a disk": [header("f", tarfile.BLKTYPE)],
    "an old file with holes": [header("f", b"S")],
    "a new file with holes": [pax(("GNU.sparse.major", "1"), ("GNU.sparse.name", "../../x")) + regular("f", b"1\n")],
    "a name with a zero byte": [pax(("path", "a\0b")) + regular("f", b"x")],
    "a name of 300 bytes": [pax(("path", "n" * 300)) + regular("f", b"x")],
    "a path longer than the kernel takes": [pax(("path", "d/" * 3000 + "x")) + regular("f", b"x")],
    "a path deeper than any folder": [pax(("path", "d/" * 1000 + "x")) + regular("f", b"x")],
    "a file and a folder": [regular("a", b"x"), regular("a/b", b"x")],
    "a folder and a file": [regular("a/b", b"x"), regular("a", b"x")],
}


@pytest.mark.parametrize("parts", ESCAPES.values(), ids=ESCAPES)
def test_what_is_no_file_or_folder_below_is_refused(
    parts: list[bytes], place: Path, submit: Callable[[bytes], dict[str, bytes]]
) -> None:
    content = packed(*(part if len(part) % BLOCK == 0 else padded(part) for part in parts))
    with pytest.raises((ArchiveError, OSError)):
        unpacked(content, place)
    refusal = "The code in sagemaker_submit_directory (cannot be unpacked|is too large): "
    with pytest.raises(ServiceError, match=refusal) as error:
        submit(content)
    assert len(error.value.message) < 500
    assert error.value.message.isprintable()


def test_a_link_that_is_there_before_is_not_followed(place: Path) -> None:
    for name in ("d", "f"):
        (place / name).symlink_to("../outside/secret" if name == "f" else "../outside")
    for part in (
        regular("d/new", b"x"),
        header("d/new/", FOLDER),
        regular("f", b"x"),
        header("n", HARD, link="d/secret"),
    ):
        with pytest.raises(ArchiveError):
            unpack(ForeignArchive(pieces(packed(part))), str(place), most_paths=9)
    assert contents(place.parent / "outside") == {"secret": b"secret"}


def test_what_archives_of_code_have_is_unpacked(place: Path, submit: Callable[[bytes], dict[str, bytes]]) -> None:
    content = packed(
        pax(("comment", "of the whole archive"), kind=tarfile.XGLTYPE),
        header("./", FOLDER),
        regular("./train.py", b"old"),
        header("pkg/", FOLDER, mode=0o700),
        regular("pkg/run.sh", b"#!", mode=0o6777),
        regular("/absolute//./name.py", b"a"),
        pax(("path", "ü/" + "n" * 150), ("mtime", "1600000000.5")) + regular("x", b"long", mode=0o444),
        header("again.py", HARD, link="./train.py"),
        regular("train.py", b"new"),
        regular("\udcff", b"bytes", mode=0o000),
    )
    found = unpacked(content, place)
    assert found == {
        "train.py": b"new",
        "again.py": b"old",
        "pkg/run.sh": b"#!",
        "absolute/name.py": b"a",
        "ü/" + "n" * 150: b"long",
        "\udcff": b"bytes",
    }
    modes = {name: stat.S_IMODE((place / name).stat().st_mode) for name in found}
    assert modes["pkg/run.sh"] == 0o755
    assert modes["train.py"] == 0o644
    assert modes["ü/" + "n" * 150] == 0o644
    assert modes["\udcff"] == 0o600
    assert (place / "ü" / ("n" * 150)).stat().st_mtime == 1_600_000_000.5
    assert submit(content) == found


def test_several_parts_of_gzip_and_zeros_after_them_are_one_archive(place: Path) -> None:
    tar = regular("a", os.urandom(5000)) + regular("b", b"2") + bytes(2 * BLOCK)
    content = b"".join(gzip.compress(tar[at : at + 100]) for at in range(0, len(tar), 100)) + bytes(3000)
    assert set(unpacked(content, place)) == {"a", "b"}
    (again := place / "again").mkdir()
    unpack(ForeignArchive(pieces(content, 1)), str(again), most_paths=9)


@pytest.mark.parametrize("name", ["train.py", "../train.py"])
def test_an_archive_that_ends_early_is_not_half_the_code(
    submit: Callable[[bytes], dict[str, bytes]], name: str, tmp_path: Path
) -> None:
    tar = regular(name, os.urandom(5000)) + bytes(2 * BLOCK)
    whole = gzip.compress(tar)
    for content in (b"", whole[:10], whole[:3000], gzip.compress(b""), gzip.compress(tar[:700]), tar, b"no archive"):
        with pytest.raises(ServiceError, match="cannot be unpacked"):
            submit(content)
    assert not list((tmp_path / "home" / "code").iterdir())


def test_limits_are_those_of_all_that_is_made(place: Path) -> None:
    for content in (
        packed(*(regular(str(number)) for number in range(11))),
        packed(regular("/".join("ABCDEFGHIJK"))),  # folders that are not named
        packed(regular("a"), *(header(str(number), HARD, link="a") for number in range(10))),
    ):
        with pytest.raises(ArchiveError, match="more than 10 files and folders"):
            unpacked(content, place, most=10)
    alternating = [pax(("path", f"{name}/{'d/' * 50}x")) + regular("x") for name in "xyxyxyxyxyxyxyxyxyxyxyxyxyxy"]
    with pytest.raises(ArchiveError, match="too deep for the number of its files"):
        unpacked(packed(*alternating), place, most=130)
    for limits, why in (
        (ArchiveLimits(members=3), "more than 3 members"),
        (ArchiveLimits(content=4000), "unpacks to more than 3.9 KiB"),
        (ArchiveLimits(names=100), "names have more than 100 B"),
        (ArchiveLimits(headers=2000), "too many extended headers"),
    ):
        content = packed(*(pax(("path", f"{number:040}")) + regular("x", bytes(600)) for number in range(4)))
        with pytest.raises(ArchiveError, match=why):
            list(ForeignArchive(pieces(content), limits))


def test_nothing_else_reads_archives() -> None:
    """`tarfile` only writes ours, and opens for whoever asks the Python API for one."""
    importing = re.compile(r"^ *(?:import|from) tarfile\b", re.MULTILINE)
    paths = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if importing.search(path.read_text())}
    assert paths == {"service/submit_plan.py", "api/artifact.py", "engine/place_build.py"}


def huge(kind: bytes) -> bytes:
    """A header about a file, with a size that is there, and little of a tar.gz."""
    into = io.BytesIO()
    with gzip.GzipFile(fileobj=into, mode="wb", compresslevel=1) as file:
        file.write(header("h", kind, size=MUCH))
        for _ in range(MUCH >> 20):
            file.write(bytes(1 << 20))
        file.write(regular("x") + bytes(2 * BLOCK))
    return into.getvalue()


HOLES_FOLLOW = with_checksum(header("x", b"S")[:482] + b"\1" + bytes(29))
HUGE = {
    "a pax header": lambda: huge(tarfile.XHDTYPE),
    "a global header": lambda: huge(tarfile.XGLTYPE),
    "a long name": lambda: huge(tarfile.GNUTYPE_LONGNAME),
    "a long link": lambda: huge(tarfile.GNUTYPE_LONGLINK),
    "many pax headers of one file": lambda: packed(
        *(pax((f"key{number}", bytes(1 << 19))) for number in range(150)), regular("x")
    ),
    "many long links": lambda: packed(
        *(pax(("linkpath", "l" * (1 << 19))) + header(str(number), SYMBOLIC) for number in range(150))
    ),
    "many names": lambda: packed(*(pax(("path", f"{number:04000}")) + regular("x") for number in range(20_000))),
    "many records of many files": lambda: packed(*([pax(*[("a", "")] * 250) + regular("x")] * 1000)),
    "many records": lambda: packed(*([pax(*[("a", "")] * 50_000) + regular("x")] * 100)),
    "a map of holes without an end": lambda: packed(HOLES_FOLLOW, *[b"\1" * BLOCK] * 99_999),
    "a size below zero": lambda: packed(header("x", tarfile.XHDTYPE, size=b"-0000001000\0"), regular("x")),
    "a size without an end": lambda: packed(header("x", size=b"\x80" + b"\xff" * 11)),
    "empty parts": lambda: gzip.compress(b"") * 200_000,
}


@pytest.fixture(scope="module", params=HUGE)
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param.replace(" ", "-")) / "model.tar.gz"
    path.write_bytes(HUGE[request.param]())
    return path


def read_all(path: str) -> None:
    artifact = Artifact(path=path, size=1)
    artifact.names()


READERS: dict[str, Callable[[str], object]] = {
    "compare": read_archive,
    "report": lambda path: read_contents(path, 1),
    "conformance": lambda path: collect([path], version="0"),
    "api": read_all,
}


@pytest.mark.slow
@pytest.mark.parametrize("reader", [*READERS, "server"])
def test_no_header_takes_much_memory(hostile: Path, reader: str, submit: Callable[[bytes], dict[str, bytes]]) -> None:
    content = hostile.read_bytes()
    tracemalloc.start()
    try:
        with suppress(ConformanceDocumentError, tarfile.ReadError, ServiceError):
            if reader == "server":
                submit(content)
            else:
                READERS[reader](str(hostile))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < LITTLE + (OF_NAMES if "many-names" in str(hostile) else 0)


@pytest.mark.slow
@pytest.mark.linux("the size of a process in /proc")
def test_damaged_archives_end_in_errors_of_ours(tmp_path: Path) -> None:
    found = in_small_process("base.foreign_archive.damaged_archives", str(DAMAGED), str(tmp_path))
    assert sum(found["outcomes"].values()) == 6 * DAMAGED
    assert found["peak"] < MEMORY
    assert found["outcomes"]["unpack: read"] > DAMAGED // 50  # not all of them are damaged where it matters


@pytest.mark.parametrize(
    ("content", "least"),
    [
        pytest.param(gzip.compress(bytes(5000)), 5000, id="gzip"),
        pytest.param(gzip.compress(bytes(9000)) + gzip.compress(bytes(700)), 700, id="two parts"),
        pytest.param(gzip.compress(bytes(9000)) + bytes(512), 0, id="zeros at its end"),
        pytest.param(gzip.compress(bytes(9000)) + b"others", 0, id="something else at its end"),
        pytest.param(b"no archive", 0, id="no gzip"),
        pytest.param(b"\x1f\x8b", 0, id="only its beginning"),
    ],
)
def test_the_least_size_of_what_is_unpacked(tmp_path: Path, content: bytes, least: int) -> None:
    """Never more than it really is."""
    (tmp_path / "archive").write_bytes(content)
    assert least_unpacked(str(tmp_path / "archive")) == least
