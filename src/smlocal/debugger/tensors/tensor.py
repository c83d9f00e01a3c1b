"""A tensor of one step, as it is in a file of the debugger's library: bytes until somebody wants its values."""

import math
import mmap
import os
import stat
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from smlocal.base.quick_dataclass import dataclass

_CHUNK = 1 << 16


@dataclass(frozen=True, kw_only=True, slots=True)
class DataType:
    """The type of one value."""

    name: str
    """As NumPy calls it."""
    npy: str
    """As the header of a `.npy` file has it."""
    format: str
    """A format of the module `struct`. Empty for complex numbers and text."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorStatistics:
    """Statistics of all values; `lowest`, `highest`, `mean`, `deviation` are of the finite ones, None without any."""

    lowest: float | None
    highest: float | None
    mean: float | None
    deviation: float | None
    """The standard deviation, as NumPy computes it by default."""
    zeros: int
    nans: int
    infinities: int


def statistics_of(tensor: Tensor) -> TensorStatistics | None:
    """Statistics in constant memory. None for text, complex numbers and a tensor without values."""
    if not tensor.type.format or not tensor.size:
        return None
    zeros = nans = infinities = count = 0
    sums: list[float] = []
    lows: list[float] = []
    highs: list[float] = []
    for piece in tensor.numbers():
        finite = _finite(piece)
        missing = len(piece) - len(finite)
        of_these = sum(map(math.isnan, piece)) if missing else 0
        nans += of_these
        infinities += missing - of_these
        zeros += finite.count(0)
        if finite:
            count += len(finite)
            sums.append(_sum(finite))
            lows.append(+min(finite))  # of bool, a number
            highs.append(+max(finite))
    mean = _sum(sums) / count if count else None
    return TensorStatistics(
        lowest=min(lows, default=None),
        highest=max(highs, default=None),
        mean=mean,
        deviation=None if mean is None else _deviation(tensor, mean, count),
        zeros=zeros,
        nans=nans,
        infinities=infinities,
    )


def _sum(numbers: Sequence[float]) -> float:
    try:
        return math.fsum(numbers)
    except OverflowError:
        return float(sum(numbers))  # infinite, as in NumPy


def _finite(piece: tuple[float, ...]) -> tuple[float, ...]:
    return piece if math.isfinite(sum(piece)) else tuple(filter(math.isfinite, piece))


def _deviation(tensor: Tensor, mean: float, count: int) -> float:
    pieces = map(_finite, tensor.numbers())
    # The distance of two points is computed in C, and without overflow.
    return math.hypot(*(math.dist(piece, (mean,) * len(piece)) for piece in pieces)) / math.sqrt(count)


_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64


def write_npz(file: BinaryIO, tensors: Iterable[tuple[str, Tensor]]) -> int:
    """Write a file that `numpy.load` reads, with each tensor under its key; returns how many there were."""
    count = 0
    with zipfile.ZipFile(file, "w") as archive:
        for key, tensor in tensors:
            with archive.open(zipfile.ZipInfo(f"{key}.npy"), "w", force_zip64=True) as entry:
                npy, content = npy_type(tensor)
                entry.write(_npy_header(npy, tensor.shape))
                entry.write(content)
            count += 1
    return count


def _npy_header(npy: str, shape: tuple[int, ...]) -> bytes:
    text = repr({"descr": npy, "fortran_order": False, "shape": shape})
    room = -(len(_MAGIC) + 2 + len(text) + 1) % _ALIGNMENT
    header = f"{text}{' ' * room}\n".encode("ascii")
    return _MAGIC + len(header).to_bytes(2, "little") + header


def npy_type(tensor: Tensor) -> tuple[str, bytes | memoryview]:
    """The data type and the values as NumPy has them."""
    if tensor.type is not TEXT:
        return tensor.type.npy, tensor.content
    longest = max(map(len, tensor.texts), default=0) or 1
    return f"<U{longest}", b"".join(text.ljust(longest, "\0").encode("utf-32-le") for text in tensor.texts)


# A container has written them: a FIFO would not end, and a link might lead anywhere.


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """One place. The rest of the files is read."""

    file: str
    """Below the folder with the tensors."""
    offset: int
    """In bytes."""
    problem: str

    def __str__(self) -> str:
        return f"{self.file}, byte {self.offset:,}: {self.problem}"


class DamagedError(Exception):
    """A file is not what the library writes."""

    def __init__(self, offset: int, problem: str) -> None:
        """`problem` goes on after the name of the file."""
        super().__init__(problem)
        self.offset = offset
        self.problem = problem


def read_regular_file(path: str) -> bytes:
    """All bytes of a file; `DamagedError` if it cannot be read."""
    with _opened(path) as (descriptor, _), open(descriptor, "rb", closefd=False) as file:
        return file.read()


def mapped(path: str) -> memoryview:
    """The bytes of a file, read when they are looked at; `DamagedError` if it cannot be read."""
    with _opened(path) as (descriptor, size):
        # The map stays open until nothing refers to it any more.
        return memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) if size else b"")


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, int]]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise DamagedError(0, "it is not a regular file")
            yield descriptor, found.st_size
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DamagedError(0, f"it cannot be read: {error.strerror}") from None
