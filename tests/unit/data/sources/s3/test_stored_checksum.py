"""Requests before bytes can be checked: as few as will do, and never a guess that fails a good object."""

from collections.abc import Mapping

import pytest

from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.range_reader import expected_checksum, part_lengths

MIB = 1 << 20
CRC32 = {"x-amz-checksum-crc32": "y/Q5Jg==", "x-amz-checksum-type": "FULL_OBJECT"}
"""The checksums of the nine digits."""
MD5 = {"etag": '"25f9e794323b453885f5181f1b624d0b"'}


class Server:
    """Answers about an object of parts, and counts what it is asked."""

    def __init__(self, *lengths: int, whole: Mapping[str, str] | None = None) -> None:
        self.lengths = lengths
        self.whole = whole or {}
        self.asked: list[int] = []

    def head(self) -> Mapping[str, str]:
        self.asked.append(0)
        return self.whole

    def head_of_part(self, number: int) -> Mapping[str, str]:
        self.asked.append(number)
        return {"content-length": str(self.lengths[number - 1]), "x-amz-mp-parts-count": str(len(self.lengths))}


@pytest.mark.parametrize(
    ("lengths", "asked"),
    [
        ((7,), []),
        ((5 * MIB, 5 * MIB), [1]),
        ((5 * MIB, 5 * MIB, 1), [1]),
        ((6 * MIB, 5 * MIB, 1), [1, 2, 3]),
        ((5 * MIB, 6 * MIB, 5 * MIB), [1, 2, 3]),
    ],
)
def test_parts_are_asked_for_one_by_one_only_where_they_differ(lengths: tuple[int, ...], asked: list[int]) -> None:
    server = Server(*lengths)
    assert part_lengths(server.head_of_part, sum(lengths), len(lengths), exactly=False) == lengths
    assert server.asked == asked


def test_a_second_look_takes_nothing_for_granted() -> None:
    uneven = Server(5 * MIB, 6 * MIB, 4 * MIB)
    assert part_lengths(uneven.head_of_part, 15 * MIB, 3, exactly=False) == (5 * MIB, 5 * MIB, 5 * MIB)
    assert part_lengths(uneven.head_of_part, 15 * MIB, 3, exactly=True) == (5 * MIB, 6 * MIB, 4 * MIB)


@pytest.mark.parametrize(
    "answer", [{}, {"content-length": "12"}, {"content-length": "12", "x-amz-mp-parts-count": "2"}]
)
def test_a_server_that_knows_no_parts(answer: dict[str, str]) -> None:
    assert part_lengths(lambda _: answer, 12, 3, exactly=False) is None


def test_a_server_that_refuses_to_say() -> None:
    def refuse(status: int) -> Mapping[str, str]:
        raise S3Error("Refused", "refused", status=status)

    assert part_lengths(lambda _: refuse(400), 12, 3, exactly=False) is None
    assert part_lengths(lambda _: refuse(501), 12, 3, exactly=False) is None
    for status in (0, 500):
        with pytest.raises(S3Error):
            part_lengths(lambda _, status=status: refuse(status), 12, 3, exactly=False)  # type: ignore[misc]  # mypy knows no defaults of lambdas here


@pytest.mark.parametrize(
    ("said", "whole", "asked", "known"),
    [
        (CRC32, {}, [], True),
        (MD5, {}, [], True),
        ({}, CRC32, [], False),
        ({"content-range": "bytes 0-8/9", **MD5}, {}, [], True),
        ({"content-range": "bytes 0-8/9"}, CRC32, [0], True),
        (None, CRC32, [0], True),
        (None, MD5, [0], False),
        ({"x-amz-checksum-crc32": "AAAAAA==-2"}, {}, [1], True),
        ({"x-amz-checksum-crc32": "AAAAAA==-3"}, {}, [1], False),
    ],
)
def test_s3_is_asked_only_for_what_no_answer_has_said(
    said: dict[str, str] | None, whole: dict[str, str], asked: list[int], *, known: bool
) -> None:
    server = Server(5, 4, whole=whole)
    checksum = expected_checksum(
        9, said, head=server.head, head_of_part=server.head_of_part, exactly=False, needs_awscrt=pytest.fail
    )
    assert (server.asked, checksum.is_known) == (asked, known)
    if known and asked != [1]:
        checksum.update(memoryview(b"123456789"))
        assert checksum.matches
