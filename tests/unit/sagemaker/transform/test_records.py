"""Records of each format, and the payloads that they are sent in."""

import io
import struct

import pytest

from smlocal.sagemaker.transform.facts import MULTI, SINGLE
from smlocal.sagemaker.transform.records import RecordsError, payloads, streamed


def cut(data: bytes, split: str, strategy: str = MULTI, most: int | None = 10) -> list[bytes]:
    return list(payloads(io.BytesIO(data), split=split, strategy=strategy, most=most))


def recordio(*contents: bytes, kind: int = 0) -> bytes:
    heads = (struct.pack("<II", 0xCED7230A, kind << 29 | len(each)) for each in contents)
    return b"".join(head + each + bytes(-len(each) % 4) for head, each in zip(heads, contents, strict=True))


def tfrecord(*contents: bytes) -> bytes:
    return b"".join(struct.pack("<QI", len(each), 1) + each + b"crc." for each in contents)


def test_an_object_is_sent_whole() -> None:
    assert cut(b"a\nb\n", "None") == [b"a\nb\n"]
    assert cut(b"", "None") == []
    assert cut(b"x" * 11, "None", most=None) == [b"x" * 11]
    with pytest.raises(RecordsError, match="Too much data"):
        cut(b"x" * 11, "None")


def test_as_many_lines_as_fit_are_sent_together() -> None:
    assert cut(b"aaa\nbbb\nccc\nddd\n", "Line") == [b"aaa\nbbb\n", b"ccc\nddd\n"]
    assert cut(b"aaa\nbbb\nccc", "Line") == [b"aaa\nbbb\n", b"ccc"]
    assert cut(b"123456789\n123456789\n", "Line") == [b"123456789\n", b"123456789\n"]
    assert cut(b"1234567890", "Line") == [b"1234567890"]
    assert cut(b"", "Line") == []
    assert cut(b"a\nb\n", "Line", most=None) == [b"a\nb\n"]
    lines = b"".join(b"%d\n" % number for number in range(2000))
    parts = cut(lines, "Line", most=100)
    assert b"".join(parts) == lines
    assert all(90 < len(part) <= 100 and part.endswith(b"\n") for part in parts[:-1])


def test_one_line_at_a_time() -> None:
    assert cut(b"aaa\nbbb", "Line", SINGLE) == [b"aaa\n", b"bbb"]


@pytest.mark.parametrize("strategy", [MULTI, SINGLE])
def test_a_line_that_is_too_long_is_an_error(strategy: str) -> None:
    with pytest.raises(RecordsError, match="Too much data for max payload size"):
        cut(b"a\n12345678901\nb\n", "Line", strategy)


def test_binary_records_lose_their_frame_when_they_are_alone() -> None:
    """As the guide says of both formats."""
    records = recordio(b"one", b"three")
    assert cut(records, "RecordIO", SINGLE) == [b"one", b"three"]
    assert cut(records, "RecordIO", most=100) == [records]
    assert cut(records, "RecordIO", most=16) == [recordio(b"one"), recordio(b"three")]
    many = tfrecord(b"one", b"three")
    assert cut(many, "TFRecord", SINGLE) == [b"one", b"three"]
    assert cut(many, "TFRecord", most=100) == [many]
    assert cut(many, "TFRecord", most=22) == [tfrecord(b"one"), tfrecord(b"three")]


def test_a_record_in_parts_is_one_record() -> None:
    parts = recordio(b"abcd", kind=1) + recordio(b"efgh", kind=2) + recordio(b"ij", kind=3)
    magic = struct.pack("<I", 0xCED7230A)
    assert cut(parts, "RecordIO", SINGLE, most=100) == [b"abcd" + magic + b"efgh" + magic + b"ij"]
    assert cut(parts, "RecordIO", most=100) == [parts]


@pytest.mark.parametrize(
    ("split", "data"),
    [
        ("RecordIO", b"not the magic number"),
        ("RecordIO", recordio(b"one")[:9]),
        ("RecordIO", b"\x0a\x23\xd7"),
        ("TFRecord", tfrecord(b"one")[:14]),
        ("TFRecord", b"short"),
    ],
)
def test_data_in_another_format_is_an_error(split: str, data: bytes) -> None:
    with pytest.raises(RecordsError, match=split):
        cut(data, split, most=None)


@pytest.mark.parametrize("strategy", [MULTI, SINGLE])
@pytest.mark.parametrize("most", [10, None])
@pytest.mark.parametrize(
    ("split", "head"),
    [("TFRecord", struct.pack("<QI", 1 << 40, 1)), ("RecordIO", struct.pack("<II", 0xCED7230A, (1 << 29) - 1))],
)
def test_a_stated_length_that_is_too_large_is_not_read(
    split: str, head: bytes, most: int | None, strategy: str
) -> None:
    file = io.BytesIO(head + bytes(100))
    with pytest.raises(RecordsError, match="Too much data" if most else "at most 100 MB"):
        list(payloads(file, split=split, strategy=strategy, most=most))
    assert file.tell() == len(head)


@pytest.mark.parametrize("strategy", [MULTI, SINGLE])
def test_the_parts_of_a_record_have_one_limit(strategy: str) -> None:
    file = io.BytesIO(recordio(bytes(40), kind=1) + recordio(bytes(40), kind=2) * 9)
    with pytest.raises(RecordsError, match="Too much data"):
        list(payloads(file, split="RecordIO", strategy=strategy, most=100))
    assert file.tell() <= 2 * 48 + 8


@pytest.mark.parametrize(("split", "strategy"), [("None", MULTI), ("Line", MULTI), ("Line", SINGLE)])
def test_what_has_no_limit_and_is_held_has_at_most_100_mb(split: str, strategy: str) -> None:
    file = io.BytesIO(b"x" * (101 << 20))
    with pytest.raises(RecordsError, match="at most 100 MB"):
        list(payloads(file, split=split, strategy=strategy, most=None))


@pytest.mark.parametrize("split", ["None", "Line", "RecordIO", "TFRecord"])
def test_an_object_is_streamed_as_it_is(split: str) -> None:
    large = bytes(3 << 20)
    data = {"RecordIO": recordio(b"a", large), "TFRecord": tfrecord(b"a", large)}.get(split, b"a\nb\n")
    pieces = list(streamed(io.BytesIO(data), split=split))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= 1 << 20
    assert list(streamed(io.BytesIO(), split=split)) == []


@pytest.mark.parametrize(
    ("split", "data"),
    [
        ("RecordIO", b"not the magic number"),
        ("RecordIO", recordio(b"one")[:9]),
        ("TFRecord", tfrecord(b"one")[:14]),
        ("TFRecord", struct.pack("<QI", 1 << 40, 1) + bytes(100)),
        ("TFRecord", b"\xff" * 40),
    ],
)
def test_a_streamed_object_in_another_format_is_an_error(split: str, data: bytes) -> None:
    with pytest.raises(RecordsError, match=split):
        list(streamed(io.BytesIO(data), split=split))
