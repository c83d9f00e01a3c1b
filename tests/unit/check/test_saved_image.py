"""Archives of images, whole and damaged, as different engines write them."""

import gzip
import json
import tarfile
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.check.images import (
    FOLDER,
    HARD,
    ID,
    LINK,
    archive,
    configuration,
    file,
    layer,
    pieces,
    program,
    read,
    saved,
)

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.image_files import PROGRAMS, SCRIPTS, ImageFiles, wanted
from smlocal.check.saved_image import BrokenImageError, read_saved_image

WANTED = wanted([PROGRAMS, SCRIPTS])


def paths(files: ImageFiles) -> list[str]:
    return sorted(found.path for found in files.everything() if found.entry.kind != "folder")


def test_a_later_layer_lies_on_the_earlier_ones() -> None:
    files = read(
        layer(file("bin/", kind=FOLDER), program("bin/train", b"old"), file("etc/a", b"1"), file("etc/b", b"2")),
        layer(program("bin/train", b"new"), file("etc/.wh.a")),
    ).files
    assert paths(files) == ["/bin/train", "/etc/b"]
    assert files.content("/bin/train") == b"new"
    found = files.find("/bin/train")
    assert found is not None
    assert (found.entry.layer, found.entry.mode) == (1, 0o755)


def test_whiteouts_of_folders_and_opaque_ones() -> None:
    below = layer(file("a/x/1"), file("a/x/deep/2"), file("a/y"), file("b/1"), file("b/sub/2"))
    files = read(below, layer(file("a/.wh.x"), file("b/.wh..wh..opq"), file("b/new"), file("a/.wh..wh.plnk"))).files
    assert paths(files) == ["/a/y", "/b/new"]
    again = read(below, layer(file("a/.wh.x")), layer(file("a/x/3"))).files
    assert paths(again) == ["/a/x/3", "/a/y", "/b/1", "/b/sub/2"]
    # Only what lower layers have: an opaque folder may be named after what is in it.
    assert paths(read(below, layer(file("b/new"), file("b/.wh..wh..opq"))).files) == [
        *("/a/x/1", "/a/x/deep/2", "/a/y", "/b/new")
    ]


def test_a_file_replaces_a_folder_and_a_folder_a_file() -> None:
    files = read(layer(file("a/b/c"), file("d")), layer(file("a/b"), file("d/", kind=FOLDER), file("d/e"))).files
    assert paths(files) == ["/a/b", "/d/e"]


def test_links_are_followed_as_the_kernel_does() -> None:
    files = read(
        layer(
            file("bin", kind=LINK, link="usr/bin"),
            program("usr/bin/python3.11", b"x"),
            file("usr/bin/python3", kind=LINK, link="python3.11"),
            file("usr/bin/python", kind=LINK, link="/bin/python3"),
            file("a", kind=LINK, link="b"),
            file("b", kind=LINK, link="a"),
            file("out", kind=LINK, link="../../../../bin/python3"),
            file("usr/bin/gone", kind=LINK, link="nowhere"),
        )
    ).files
    for name in ("/bin/python", "/bin/../bin/python3", "/usr/bin/python", "/out", "//bin/./python3"):
        found = files.find(name)
        assert found is not None, name
        assert found.path == "/usr/bin/python3.11"
    assert files.find("/a") is None
    assert files.find("/usr/bin/gone") is None
    assert files.find("/usr/bin/python3.11/x") is None
    root = files.find("/")
    assert root is not None
    assert root.path == "/"
    assert files.content("/bin/python") == b"x"


def test_hard_links_have_the_content_of_the_first_name() -> None:
    files = read(
        layer(program("bin/a", b"#!/bin/sh\n")),
        layer(file("bin/train", kind=HARD, link="bin/a"), file("bin/none", kind=HARD, link="bin/missing")),
    ).files
    assert files.content("/bin/train") == b"#!/bin/sh\n"
    assert files.find("/bin/none") is None


def test_names_that_point_outside_end_at_the_root() -> None:
    files = read(layer(file("../../etc/passwd", b"x"), file("/abs", b"y"), file("./a/../b//c"))).files
    assert paths(files) == ["/abs", "/b/c", "/etc/passwd"]


def test_names_that_are_not_utf8_and_long_ones_in_every_format() -> None:
    odd = b"f\xff\xfe".decode("utf-8", "surrogateescape")
    long = "/".join(["folder" * 10] * 9) + "/train"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        files = read(
            layer(
                file(odd),
                program(long, b"#!x"),
                file("l", kind=LINK, link=long),
                file("big", uid=2**31, gid=7),
                format=form,
            )
        ).files
        assert paths(files) == sorted([f"/{odd}", f"/{long}", "/l", "/big"])
        assert files.content("/l") == b"#!x"
        big = files.find("/big")
        assert big is not None
        assert (big.entry.uid, big.entry.gid) == (2**31, 7)


_DAMAGED = [
    saved(layer(program("bin/a", b"#!1"), file("x" * 150), file("l", kind=LINK, link="x"), format=tarfile.PAX_FORMAT)),
    saved(layer(program("bin/a", b"#!1"), file("y" * 150), file("z/.wh.x")), layer(file("h", kind=HARD, link="bin/a"))),
]


def oci(*layers: bytes) -> bytes:
    """As Docker since 25 and containerd's store write it: all blobs, layers perhaps compressed."""
    blobs: dict[str, bytes | str] = {f"blobs/sha256/{number:064x}": content for number, content in enumerate(layers)}
    config = f"blobs/sha256/{'ab' * 32}"
    manifest = [{"Config": config, "Layers": list(blobs)}]
    rest = {"index.json": b"{}", "oci-layout": b"{}", config: configuration(len(layers))}
    return archive({**blobs, **rest, "manifest.json": json.dumps(manifest).encode()})


def podman(*layers: bytes) -> bytes:
    """As Podman writes it: layers with links to them at the places where Docker had them."""
    names = [f"{number:064x}.tar" for number in range(len(layers))]
    links = {f"{number:x}/layer.tar": f"../{name}" for number, name in enumerate(names)}
    config = f"{'ab' * 32}.json"
    manifest = [{"Config": config, "Layers": list(links)}]
    return archive(
        {
            **dict(zip(names, layers, strict=True)),
            **links,
            config: configuration(len(layers)),
            "manifest.json": json.dumps(manifest).encode(),
        }
    )


FIRST, SECOND = layer(program("bin/a", b"#!1"), file("x")), layer(program("bin/b", b"#!2"), file(".wh.x"))


@pytest.mark.parametrize(
    "written",
    [
        saved(FIRST, SECOND),
        oci(FIRST, SECOND),
        oci(gzip.compress(FIRST), gzip.compress(SECOND[:512]) + gzip.compress(SECOND[512:])),
        podman(FIRST, SECOND),
    ],
    ids=["docker", "oci", "gzip", "podman"],
)
@pytest.mark.parametrize("size", [1, 511, 100_000])
def test_every_engine_and_however_the_bytes_come(written: bytes, size: int) -> None:
    image = read_saved_image(pieces(written, size), WANTED, image=ID)
    assert paths(image.files) == ["/bin/a", "/bin/b"]
    assert image.files.unread == ()
    assert [step.layer for step in image.history] == [0, 1]


def test_a_layer_that_cannot_be_read_is_said_and_not_passed_over() -> None:
    for content, why in (
        (b"\x28\xb5\x2f\xfd" + bytes(2000), "zstd"),
        (FIRST[:512] + b"no header" * 200, "damaged"),
        (layer(file("d/" * 50_000 + "x"), format=tarfile.PAX_FORMAT), "more than 4,096"),  # which would fill memory
        (b"short", "a format that smlocal does not read"),
    ):
        files = read_saved_image(pieces(oci(content, SECOND)), WANTED, image=ID).files
        assert len(files.unread) == 1
        assert why in files.unread[0]


def test_the_same_layer_twice() -> None:
    manifest = b'[{"Config":"c.json","Layers":["1.tar","2.tar","1.tar"]}]'
    written = archive({"1.tar": FIRST, "2.tar": SECOND, "c.json": configuration(3), "manifest.json": manifest})
    files = read_saved_image(pieces(written), WANTED, image=ID).files
    assert paths(files) == ["/bin/a", "/bin/b", "/x"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no manifest"),
        (b'{"errorDetail":{"message":"no space left on device"}}' + bytes(500), "not the archive"),
        (saved(FIRST)[:700], "too early"),
        (archive({"manifest.json": b'[{"Config":"c","Layers":["a/layer.tar"]}]'}), "lacks its layer"),
        (archive({"manifest.json": b"[1"}), "no manifest"),
        (archive({"manifest.json": b"[" * 100_000}), "no manifest"),
        (archive({"manifest.json": b'[{"Config":1,"Layers":[7]}]'}), "lacks its layer 7"),
    ],
)
def test_what_is_no_image(content: bytes, why: str) -> None:
    with pytest.raises(BrokenImageError, match=why):
        read_saved_image(pieces(content), WANTED, image=ID)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(0, 2**20), st.binary(min_size=1, max_size=12)), min_size=1, max_size=6),
    st.integers(0, 9),
)
def test_damage_anywhere_is_an_image_or_an_error_of_ours(changes: list[tuple[int, bytes]], cut: int) -> None:
    whole = bytearray(_DAMAGED[cut % 2])
    for at, what in changes:
        place = at % len(whole)
        whole[place : place + len(what)] = what
    if cut > 7:
        del whole[changes[0][0] % len(whole) :]
    with suppress(BrokenImageError):
        files = read_saved_image(pieces(bytes(whole)), WANTED, image=ID).files
        for found in files.everything():
            files.find(found.path)


def large() -> Iterator[bytes]:
    """A layer of two gigabytes, of which nothing is wanted."""
    size = 2 << 30
    info = tarfile.TarInfo("0/layer.tar")
    inner = tarfile.TarInfo("weights.bin")
    inner.size = size
    info.size = 512 + size + 1024
    yield info.tobuf() + inner.tobuf()
    piece = bytes(1 << 20)
    for _ in range(size >> 20):
        yield piece
    yield bytes(1024)
    yield archive({"c.json": configuration(1), "manifest.json": b'[{"Config":"c.json","Layers":["0/layer.tar"]}]'})


def test_a_layer_of_gigabytes_takes_no_memory() -> None:
    tracemalloc.start()
    files = read_saved_image(large(), WANTED, image=ID).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert paths(files) == ["/weights.bin"]
    assert peak < 20 << 20


@pytest.mark.slow(11)
def test_a_hundred_thousand_links_and_whiteouts_of_as_many() -> None:
    links = layer(
        *(file(f"d{number % 100}/l{number}", kind=LINK, link=f"l{number + 100}") for number in range(100_000))
    )
    files = read(links).files
    assert files.find("/d0/l0") is None  # a chain that is too long for the kernel
    gone = read(links, layer(*(file(f"d{number % 100}/.wh.l{number}") for number in range(100_000)))).files
    assert paths(gone) == []


def test_a_folder_deeper_than_python_recurses() -> None:
    deep = "/".join(["d"] * 1900)
    files = read(layer(file(f"{deep}/x")), layer(file(".wh.d"))).files
    assert paths(files) == []
    assert paths(read(layer(file(f"{deep}/x"))).files) == [f"/{deep}/x"]


def test_more_programs_than_there_is_room_for_is_said() -> None:
    big = b"#!" + bytes(60_000)
    files = read(layer(*(program(f"bin/p{number}", big) for number in range(700)))).files
    assert files.crowded
    assert files.content("/bin/p0") == big
    with pytest.raises(CannotLookError, match="/bin/p699 was not read: the image has more scripts and programs"):
        files.content("/bin/p699")


def test_only_what_is_wanted_is_kept() -> None:
    big = bytes(10_000)
    files = read(
        layer(
            program("bin/binary", b"\x7fELF" + big),
            program("bin/data", big),
            program("usr/lib/libx.so.1", b"\x7fELF" + big),
            program("bin/script", b"#!" + big),
            file("opt/t.py", big),
            file("usr/lib/python3/dist-packages/p/t.py", big),
            file("opt/weights", big),
        )
    ).files
    assert {path: len(content) for path, content in files.contents.items()} == {
        "bin/binary": 4096,
        "bin/data": 64,
        "bin/script": 10_002,
        "opt/t.py": 10_000,
    }
