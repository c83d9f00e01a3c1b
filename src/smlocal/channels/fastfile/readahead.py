"""What to fetch ahead: nothing for random reads, more and more for sequential ones."""

from smlocal.quick_dataclass import dataclass

CELL = 128 << 10
"""The smallest fetch; every fetch begins at a multiple of it."""
SLACK = 4 << 20
"""The kernel sends several reads at once, in any order: reads this far apart are still sequential."""
WINDOW = 64 << 20
CHUNK = 8 << 20
_SMALLEST_PIECE = 1 << 20
_AT_ONCE = 8
"""A window is fetched in so many pieces in parallel."""


@dataclass(kw_only=True, slots=True)
class Sequence:
    """How one open file has been read."""

    tail: int = 0
    """The furthest end of a read in this run."""
    run: int = 0
    """Bytes read in this run; 0 before the first read."""
    planned: int = 0
    """Everything before this position is being fetched."""

    def read(self, start: int, end: int) -> bool:
        """Record a read; True if it continues the ones before."""
        if self.run and abs(start - self.tail) <= SLACK:
            self.run += end - start
            self.tail = max(self.tail, end)
            self.planned = max(self.planned, self.tail)
            return True
        self.tail = self.planned = end
        self.run = end - start
        return False

    def pieces(self, size: int, share: int, at_once: int = CHUNK) -> list[tuple[int, int]]:
        """What to fetch now of an object of `size` bytes, using at most `share` bytes of memory.

        Twice as much as was read in this run, so that little is lost if the reader stops. No piece is larger than
        `at_once`.
        """
        most = max(CELL, min(CHUNK, at_once))
        window = min(WINDOW, share, 2 * self.run, _AT_ONCE * most)
        # If many files share the memory, there are enough pieces anyway, and small ones are inefficient.
        wished = max(window // _AT_ONCE, min(window // 2, _SMALLEST_PIECE))
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
