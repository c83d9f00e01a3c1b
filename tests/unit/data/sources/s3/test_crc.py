"""Each CRC is the one that others know."""

import builtins
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.sources.s3.interface import Crc, crc_function
from smlocal.data.sources.s3.range_reader import expected_checksum, stored_checksum

CHECK = b"123456789"
KNOWN = {"crc32": 0xCBF43926, "crc32c": 0xE3069283, "crc64nvme": 0xAE8B14860A799888}
"""The catalogues' CRCs of the bytes above."""
HERE = [kind for kind in KNOWN if crc_function(kind) is not None]
"""Two of them need awscrt."""


@pytest.mark.parametrize("kind", HERE)
def test_a_sum_is_spelt_as_s3_spells_it(kind: str) -> None:
    made = Crc(kind)
    for byte in CHECK:
        made.update(memoryview(bytearray([byte])))
    assert int.from_bytes(made.digest(), "big") == KNOWN[kind]
    assert len(made.digest()) == (8 if kind == "crc64nvme" else 4)


@given(pieces=st.lists(st.binary(max_size=2000), max_size=6), writable=st.booleans())
def test_the_sum_is_the_same_however_the_bytes_are_cut(pieces: list[bytes], *, writable: bool) -> None:
    whole = b"".join(pieces)
    for kind in HERE:
        in_one, in_many = Crc(kind), Crc(kind)
        in_one.update(memoryview(whole))
        for piece in pieces:
            in_many.update(memoryview(bytearray(piece) if writable else piece))
        assert in_many.digest() == in_one.digest(), kind
    crc32 = Crc("crc32")
    crc32.update(memoryview(whole))
    assert int.from_bytes(crc32.digest(), "big") == zlib.crc32(whole)


def test_without_awscrt_its_checksums_are_not_compared_and_somebody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.startswith("awscrt"):
            raise ImportError(name)
        return original(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    crc_function.cache_clear()
    try:
        wrong = {"x-amz-checksum-crc64nvme": "AAAAAAAAAAA=", "x-amz-checksum-type": "FULL_OBJECT"}
        assert stored_checksum(wrong, etag=False) is None
        both = stored_checksum({**wrong, "x-amz-checksum-crc32": "y/Q5Jg=="}, etag=False)
        assert both is not None
        assert both.kind == "crc32"
        told: list[str] = []
        asking: Any = {"head": lambda: wrong, "head_of_part": dict, "exactly": False, "needs_awscrt": told.append}
        assert not expected_checksum(9, None, **asking).is_known
        assert not expected_checksum(9, wrong, **asking).is_known
        assert told == ["crc64nvme", "crc64nvme"]
        for known in (
            {**wrong, "x-amz-checksum-crc32": "y/Q5Jg=="},
            {**wrong, "etag": '"25f9e794323b453885f5181f1b624d0b"'},
        ):
            assert expected_checksum(9, known, **asking).is_known
        assert not expected_checksum(9, {}, **asking).is_known
        assert len(told) == 2
        with pytest.raises(ValueError, match="needs awscrt"):
            Crc("crc32c")
    finally:
        crc_function.cache_clear()
