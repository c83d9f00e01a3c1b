"""Every way to a CRC gives the CRC that others know."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.sources.s3.crc import Add, Crc, adding, in_library, in_python

CHECK = b"123456789"
KNOWN = {"crc32": 0xCBF43926, "crc32c": 0xE3069283, "crc64nvme": 0xAE8B14860A799888}
"""What the catalogues of CRCs say of the bytes above."""
LIBRARY = [(kind, found) for kind in ("crc32c", "crc64nvme") if (found := in_library(kind)) is not None]
PYTHON = [(kind, in_python(kind)) for kind in ("crc32c", "crc64nvme")]


def test_the_library_that_is_installed_knows_them_all() -> None:
    assert [kind for kind, _ in LIBRARY] == ["crc32c", "crc64nvme"]


@pytest.mark.parametrize(("kind", "add"), [*LIBRARY, *PYTHON, ("crc32", adding("crc32"))])
def test_known_sums(kind: str, add: Add) -> None:
    assert add(memoryview(CHECK), 0) == KNOWN[kind]
    assert add(memoryview(b""), 0) == 0
    assert add(memoryview(b""), 77) == 77


@pytest.mark.parametrize("kind", KNOWN)
def test_a_sum_is_spelt_as_s3_spells_it(kind: str) -> None:
    made = Crc(kind)
    for byte in CHECK:
        made.update(memoryview(bytearray([byte])))
    assert int.from_bytes(made.digest(), "big") == KNOWN[kind]
    assert len(made.digest()) == (8 if kind == "crc64nvme" else 4)


@given(pieces=st.lists(st.binary(max_size=2000), max_size=6), writable=st.booleans())
def test_all_ways_agree_however_the_bytes_are_cut(pieces: list[bytes], *, writable: bool) -> None:
    whole = b"".join(pieces)
    for (kind, library), (_, python) in zip(LIBRARY, PYTHON, strict=True):
        value = 0
        for piece in pieces:
            value = library(memoryview(bytearray(piece) if writable else piece), value)
        assert value == python(memoryview(whole), 0), kind
    assert adding("crc32")(memoryview(whole), 0) == zlib.crc32(whole)


def test_a_slice_begins_where_it_says() -> None:
    view = memoryview(bytearray(b"junk" + CHECK + b"junk"))[4:13]
    assert {kind: add(view, 0) for kind, add in LIBRARY} == {kind: KNOWN[kind] for kind, _ in LIBRARY}
