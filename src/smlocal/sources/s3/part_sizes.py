"""How large each part of an object is: S3 takes ten thousand of them, and nobody knows how large an archive will be."""

PART = 16 << 20
"""What fits into one part goes without parts."""
MOST_PARTS = 10_000

_EVEN = MOST_PARTS // 2
_STEP = 1000
_LARGEST = 5 << 30
_WHOLE = 1 << 20


def first_part(most: int) -> int:
    """The size of the first parts of an object that has at most so many bytes, as far as anybody knows."""
    least = -(-most // _EVEN)
    return min(_LARGEST, max(PART, -(-least // _WHOLE) * _WHOLE))


def part_size(number: int, first: int) -> int:
    """The size of a part, counted from 1: the same for half of all, then larger and larger lest they run out."""
    doubled = 0 if number <= _EVEN else (number - _EVEN - 1) // _STEP + 1
    return min(_LARGEST, first << doubled)
