"""Very many names in little memory: a million of them as one block of bytes and where each of them begins."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from operator import eq
from typing import overload

_FEW = 4_096
"""Up to this many names are kept as they are; at once this many are packed and unpacked."""
_ERRORS = "surrogateescape"
"""Names of files are bytes, and need not be UTF-8."""


class PackedNames(Sequence[str]):
    """Names that are taken out of one block one by one; what is sliced shares it."""

    __slots__ = ("_block", "_ends", "_picked", "_skipped")

    def __init__(self, block: bytearray, ends: "array[int]", picked: range, skipped: int = 0) -> None:
        """Take what a `NamePacker` has made; nobody may change it any more."""
        self._block = block
        self._ends = ends
        self._picked = picked
        self._skipped = skipped

    def __len__(self) -> int:
        return len(self._picked)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "PackedNames": ...
    def __getitem__(self, index: int | slice) -> "str | PackedNames":
        if isinstance(index, slice):
            return PackedNames(self._block, self._ends, self._picked[index], self._skipped)
        return self._name(self._picked[index])

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._pieces())

    def _pieces(self) -> Iterator[Iterator[str]]:
        """Many names at once, where they stand side by side."""
        picked = self._picked
        if picked.step != 1:
            yield map(self._name, picked)
            return
        for first in range(picked.start, picked.stop, _FEW):
            last = min(first + _FEW, picked.stop)
            base = self._ends[first]
            piece = self._block[base : self._ends[last]]
            if piece.isascii():
                text = piece.decode("ascii")
                ends = [end - base for end in self._ends[first : last + 1]]
                starts = [end + self._skipped for end in ends] if self._skipped else ends
                yield map(text.__getitem__, map(slice, starts, ends[1:]))
            else:
                yield map(self._name, range(first, last))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedNames | tuple):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{len(self)} names>"

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """Where the first such name stands; all names may have to be looked at."""
        first, last, _ = slice(start, stop).indices(len(self))
        for number, name in enumerate(self[first:last], first):
            if name == value:
                return number
        raise ValueError(f"{value!r} is not among the names")

    def without(self, beginning: str) -> "PackedNames":
        """All names without a beginning that every one of them has."""
        skipped = self._skipped + len(beginning.encode(errors=_ERRORS))
        return PackedNames(self._block, self._ends, self._picked, skipped)

    def _name(self, number: int) -> str:
        start = self._ends[number] + self._skipped
        return self._block[start : self._ends[number + 1]].decode(errors=_ERRORS)


class NamePacker:
    """Takes names one by one and packs them when there are many."""

    __slots__ = ("_block", "_ends", "_pending")

    def __init__(self) -> None:
        self._block = bytearray()
        self._ends = array("q", (0,))
        self._pending: list[str] = []

    def add(self, name: str) -> None:
        """Take one more."""
        self._pending.append(name)
        if len(self._pending) > _FEW:
            self._pack()

    def extend(self, names: Iterable[str]) -> None:
        """Take many more."""
        waiting = iter(names)
        while True:
            self._pending += islice(waiting, _FEW + 1 - len(self._pending))
            if len(self._pending) <= _FEW:
                return
            self._pack()

    def names(self) -> Sequence[str]:
        """All of them in the order they came; nothing may be added any more."""
        if len(self._ends) == 1:
            return tuple(self._pending)
        self._pack()
        return PackedNames(self._block, self._ends, range(len(self._ends) - 1))

    def _pack(self) -> None:
        joined = "".join(self._pending)
        if joined.isascii():
            self._block += joined.encode("ascii")
            lengths = map(len, self._pending)
        else:
            encoded = [name.encode(errors=_ERRORS) for name in self._pending]
            self._block += b"".join(encoded)
            lengths = map(len, encoded)
        self._ends.extend(islice(accumulate(lengths, initial=self._ends[-1]), 1, None))
        self._pending.clear()


def packed(names: Iterable[str]) -> Sequence[str]:
    """The names as a tuple, or packed where there are many."""
    packer = NamePacker()
    packer.extend(names)
    return packer.names()


def without(names: Sequence[str], beginning: str) -> Sequence[str]:
    """The names without a beginning that every one of them has."""
    if isinstance(names, PackedNames):
        return names.without(beginning)
    return tuple([name[len(beginning) :] for name in names])
