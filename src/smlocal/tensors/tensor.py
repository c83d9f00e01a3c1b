"""A tensor of one step, as it is in a file: its values are bytes until somebody wants them."""

import struct
from collections.abc import Iterator

from smlocal.quick_dataclass import dataclass

_CHUNK = 1 << 16


@dataclass(frozen=True, kw_only=True, slots=True)
class DataType:
    """What one value is."""

    name: str
    """As NumPy calls it."""
    npy: str
    """As the header of a `.npy` file has it."""
    format: str
    """Of the module `struct`. Empty for complex numbers and text."""
    size: int
    """In bytes."""


TEXT = DataType(name="str", npy="", format="", size=0)
TYPES = {
    number: DataType(name=name, npy=npy, format=code, size=int(npy[2:]))
    for number, name, npy, code in (
        (1, "float32", "<f4", "f"),
        (2, "float64", "<f8", "d"),
        (3, "int32", "<i4", "i"),
        (4, "uint8", "|u1", "B"),
        (5, "int16", "<i2", "h"),
        (6, "int8", "|i1", "b"),
        (8, "complex64", "<c8", ""),
        (9, "int64", "<i8", "q"),
        (10, "bool", "|b1", "?"),
        (17, "uint16", "<u2", "H"),
        (18, "complex128", "<c16", ""),
        (19, "float16", "<f2", "e"),
        (22, "uint32", "<u4", "I"),
        (23, "uint64", "<u8", "Q"),
    )
} | {0: TEXT, 7: TEXT}
"""By the number that TensorFlow gives to each. The library leaves it out for text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tensor:
    """The value of a tensor."""

    type: DataType
    shape: tuple[int, ...]
    content: memoryview
    """The values, little-endian, the last dimension first. Empty for text."""
    texts: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.texts) if self.type is TEXT else len(self.content) // self.type.size

    def numbers(self) -> Iterator[tuple[float, ...]]:
        """The values in pieces, so that a large tensor need not fit into memory. None of text and complex numbers."""
        if self.type.format:
            step = _CHUNK * self.type.size
            for start in range(0, len(self.content), step):
                piece = self.content[start : start + step]
                yield struct.unpack(f"<{len(piece) // self.type.size}{self.type.format}", piece)

    @property
    def single(self) -> float | str | None:
        """The value, if there is just one, and it is a number or text."""
        if self.size != 1:
            return None
        if self.type is TEXT:
            return self.texts[0]
        return next((piece[0] for piece in self.numbers()), None)
