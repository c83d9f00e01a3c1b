import io
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sagemaker_training.recordio import _read_recordio  # type: ignore[import-untyped] # published without types

from smlocal.data.channels.pipe.feeder import MAGIC, MOST, parts

MAGIC_WORD = struct.pack("<I", MAGIC)
PAYLOADS = st.lists(st.binary(max_size=50) | st.lists(st.sampled_from([MAGIC_WORD, b"x"]), max_size=9).map(b"".join))


def framed(payload: bytes, most: int = MOST) -> bytes:
    framed = b""
    start = 0
    for part in parts(len(payload), most):
        framed += part.header + payload[start : start + part.length] + part.padding
        start += part.length
    return framed


def test_five_bytes_become_sixteen() -> None:
    assert framed(b"abcde") == b"\x0a\x23\xd7\xce" + b"\x05\0\0\0" + b"abcde" + bytes(3)


def test_no_byte_is_a_record() -> None:
    assert framed(b"") == b"\x0a\x23\xd7\xce" + bytes(4)


@given(PAYLOADS)
def test_the_reader_of_the_training_toolkit_reads_what_was_framed(payloads: Sequence[bytes]) -> None:
    stream = io.BytesIO(b"".join(map(framed, payloads)))
    assert list(_read_recordio(stream)) == payloads


def test_what_is_too_long_for_one_part_is_split() -> None:
    assert framed(b"0123456789", most=4) == b"".join(
        [
            struct.pack("<II", MAGIC, 1 << 29 | 4) + b"0123",
            struct.pack("<II", MAGIC, 2 << 29 | 4) + b"4567",
            struct.pack("<II", MAGIC, 3 << 29 | 2) + b"89\0\0",
        ]
    )


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (MOST, [(0, MOST)]),
        (MOST + 1, [(1, MOST), (3, 1)]),
        (2 * MOST, [(1, MOST), (3, MOST)]),
        (2 * MOST + 1, [(1, MOST), (2, MOST), (3, 1)]),
    ],
)
def test_where_the_format_itself_makes_it_split(length: int, expected: list[tuple[int, int]]) -> None:
    found = [(part, struct.unpack("<II", part.header)) for part in parts(length)]
    assert [(lrec >> 29, lrec & MOST) for _, (_, lrec) in found] == expected
    assert all(magic == MAGIC and part.length == lrec & MOST for part, (magic, lrec) in found)
    assert all((part.length + len(part.padding)) % 4 == 0 for part, _ in found)
