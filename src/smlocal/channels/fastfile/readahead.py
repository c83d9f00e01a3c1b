"""What to fetch before it is asked for: nothing for a reader that jumps, more and more for one that goes on."""

from smlocal.quick_dataclass import dataclass

CELL = 128 << 10
"""What a random read fetches at least; every fetch begins at a multiple of it."""
SLACK = 4 << 20
"""The kernel sends several reads at once, which come in any order: so far off is still in sequence."""
WINDOW = 64 << 20
CHUNK = 8 << 20
_WORTH_ASKING = 1 << 20
_AT_ONCE = 8
"""A window is fetched in so many pieces side by side."""


@dataclass(kw_only=True, slots=True)
class Sequence:
    """How one open file has been read so far."""

    tail: int = 0
    """Where the furthest read of this run ended."""
    run: int = 0
    """How many bytes were read in this run; 0 before the first read."""
    planned: int = 0
    """Up to where everything has been asked for."""

    def read(self, start: int, end: int) -> bool:
        """Note a read; true when it goes on from the ones before."""
        if self.run and abs(start - self.tail) <= SLACK:
            self.run += end - start
            self.tail = max(self.tail, end)
            self.planned = max(self.planned, self.tail)
            return True
        self.tail = self.planned = end
        self.run = end - start
        return False

    def pieces(self, size: int, share: int, at_once: int = CHUNK) -> list[tuple[int, int]]:
        """What to fetch now of an object of `size` bytes, when `share` bytes of memory may be used for it.

        Twice as much as was read in this run: a reader that stops has cost little, one that goes on gets everything. No
        piece is larger than what S3 sends `at_once`.
        """
        most = max(CELL, min(CHUNK, at_once))
        window = min(WINDOW, share, 2 * self.run, _AT_ONCE * most)
        # Where many share the memory, there are enough pieces as it is, and small ones cost more than they are worth.
        wished = max(window // _AT_ONCE, min(window // 2, _WORTH_ASKING))
        chunk = max(CELL, _power_of_two(min(wished, most)))
        limit = min(size, self.tail + window)
        found = []
        start = self.planned
        while start < limit:
            end = min(size, (start // chunk + 1) * chunk)
            found.append((start, end))
            start = end
        return found


def _power_of_two(value: int) -> int:
    return 1 << max(0, value.bit_length() - 1)
