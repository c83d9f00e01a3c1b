"""The sizes of the parts of an upload: S3 takes 10,000 parts, and the size of an archive is not known in advance."""

PART = 16 << 20
"""Smaller objects are sent in one request."""
MOST_PARTS = 10_000

_EQUAL_PARTS = MOST_PARTS // 2
_PARTS_PER_DOUBLING = 1000
_LARGEST = 5 << 30
_ROUNDING = 1 << 20


def first_part(most: int) -> int:
    """The size of the first parts of an object that is expected to have at most `most` bytes."""
    least = -(-most // _EQUAL_PARTS)
    return min(_LARGEST, max(PART, -(-least // _ROUNDING) * _ROUNDING))


def part_size(number: int, first: int) -> int:
    """The size of a part, counted from 1: equal for the first half, then doubled again and again."""
    doubled = 0 if number <= _EQUAL_PARTS else (number - _EQUAL_PARTS - 1) // _PARTS_PER_DOUBLING + 1
    return min(_LARGEST, first << doubled)
