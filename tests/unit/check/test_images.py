"""Images of somebody else: none takes `check` much memory, and each ends in a report or in an error of ours."""

import gzip
import os
from dataclasses import replace

import pytest
from tests.unit.base.foreign_archive.foreign_archives import MEMORY, header, in_small_process, pax, pieces, regular
from tests.unit.check.images import FOLDER, ID, LINK, file, layer, read, subject
from tests.unit.check.large_images import DEEP, END, image, long_name

from smlocal.base.foreign_archive.stream import BeyondLimitError, ByteStream
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.image_files import PROGRAMS, SCRIPTS, wanted
from smlocal.check.saved_image import TOO_MANY, BrokenImageError, Room, merged, read_layer, read_root, read_saved_image

DAMAGED = int(os.environ.get("SMLOCAL_DAMAGED_IMAGES", "2000"))
ALL = DAMAGED >= 6000
WANTED = wanted([PROGRAMS, SCRIPTS])
ENDINGS = {
    "deep paths": TOO_MANY,
    "deep folders that are replaced": TOO_MANY,
    "long names": TOO_MANY,
    "one layer often": TOO_MANY,
    "huge targets": "a layer of the image is not read: it has a name of more than 4,096 bytes",
    "huge headers": "a layer of the image is not read: it has too many extended headers",
    "too many layers": "the archive of the image has a manifest of more than 1 MiB",
    "documents": "read",
    "a large manifest": "read",
    "a manifest with too many layers": "the image has 250,001 layers, more than smlocal reads (1,000)",
    "a large configuration": "read",
    "parts": "the archive of the image has more than 20,000 parts",
    "empty parts of gzip": "a layer of the image is not read: it is compressed in too many empty parts",
    "a size below zero": "a layer of the image is damaged",
    "a nested name": "read",
    "nested layers": "the archive of the image lacks its layer ",
    "a nested step": "read",
}


if ALL:
    ENDINGS |= dict.fromkeys(("long targets", "long whiteouts", "hard links"), TOO_MANY)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.linux("the memory of a process in /proc")
def test_no_image_takes_much_memory(name: str) -> None:
    found = in_small_process("check.large_images", name)
    assert list(found["outcomes"]) == [ENDINGS[name]]
    assert found["peak"] < MEMORY


@pytest.mark.slow
@pytest.mark.linux("the memory of a process in /proc")
def test_damaged_images_end_in_errors_of_ours() -> None:
    found = in_small_process("check.damaged_images", str(DAMAGED))
    assert sum(found["outcomes"].values()) > DAMAGED
    assert found["outcomes"]["read"] > DAMAGED // 10  # not all of them are damaged where it matters
    assert found["peak"] < MEMORY


@pytest.mark.slow(0.5)
def test_an_image_beyond_the_limits_is_said_in_the_report() -> None:
    files = read_saved_image(
        image([long_name(f"{n}{DEEP}") + regular("x") for n in range(150)]), WANTED, image=ID
    ).files
    assert files.unread == (TOO_MANY,)
    assert not files.folders  # what was read of it is not kept
    looked_at = replace(subject(layer(file("a"))), read=files)
    with pytest.raises(CannotLookError, match="more files and folders, or longer paths, than smlocal reads"):
        looked_at.files  # noqa: B018 - a property


def test_paths_that_are_as_long_as_linux_takes_are_read() -> None:
    files = read(layer(file(f"a{DEEP}/x", b"1"), file("l", kind=LINK, link="t" * 4095))).files
    found = files.find(f"/a{DEEP}/x")
    assert found is not None
    assert files.unread == ()


@pytest.mark.parametrize(
    "parts",
    [
        [regular(f"f{number}") for number in range(50)],
        [header(f"f{number}/", FOLDER) for number in range(50)],
        [regular("/".join(f"{number}") + "/x") for number in range(10**30, 10**30 + 2)],
        [regular(f".wh.{number}") for number in range(50)],
        [header(f"h{number}", b"1", link="x") for number in range(50)],
        [header(f"h{number}", b"2", link="x") for number in range(50)],
        [regular("a/b/c/d/e/f/g/h/i/j"), regular("a")] * 4,
    ],
    ids=["files", "folders", "unnamed folders", "whiteouts", "hard links", "links", "replaced"],
)
def test_whatever_is_kept_needs_room(parts: list[bytes]) -> None:
    room = Room(paths=10_000)
    with pytest.raises(BeyondLimitError):
        merged([read_layer(ByteStream(pieces(b"".join(parts) + END)), b"", WANTED, room)], room)
    with pytest.raises(BrokenImageError):  # with all the room there is, for an archive that is damaged behind it
        read_root(pieces(b"".join(parts) + b"x" * 100), WANTED)


def test_sizes_below_zero_in_extended_headers_are_no_way_back() -> None:
    for size in ("-512", "-1"):
        parts = [pax(("size", size)) + regular("a"), regular("b")]
        files = read_saved_image(image(parts), WANTED, image=ID).files
        assert files.unread == ("a layer of the image is damaged",)


@pytest.mark.parametrize("size", [1, 100, 4096])
def test_a_piece_of_gzip_that_gives_nothing_is_not_the_end(size: int) -> None:
    whole = gzip.compress(layer(file("a"), file("b")), mtime=0)
    named = whole[:3] + b"\x08" + whole[4:10] + b"n" * 10_000 + b"\0" + whole[10:]
    names = {"l": named + bytes(-len(named) % 512)}
    written = b"".join(regular(name, content) for name, content in names.items())
    written += regular("manifest.json", b'[{"Config":"c","Layers":["l"]}]') + END
    files = read_saved_image(pieces(written, size), WANTED, image=ID).files
    assert sorted(files.folders[""]) == ["a", "b"]


def test_links_that_lead_to_each_other_are_followed_for_a_while() -> None:
    files = read(
        layer(
            file(f"a{'/d' * 1000}/l", kind=LINK, link=f"/a{'/d' * 1000}/l"),
            *(file(f"n{number}", kind=LINK, link="/".join([f"n{number + 1}", *["."] * 2000])) for number in range(30)),
            file("n30/", kind=FOLDER),
        )
    ).files
    assert files.find(f"/a{'/d' * 1000}/l") is None
    assert files.find("/n0") is None  # more parts than are followed
    assert files.find("/n27") is not None
