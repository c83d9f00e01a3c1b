"""Tensors as a file that `numpy.load` reads."""

import zipfile
from collections.abc import Iterable
from typing import BinaryIO

from smlocal.tensors.tensor import TEXT, Tensor

_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64


def write_npz(file: BinaryIO, tensors: Iterable[tuple[str, Tensor]]) -> int:
    """Write each tensor under its key; returns how many there were."""
    count = 0
    with zipfile.ZipFile(file, "w") as archive:
        for key, tensor in tensors:
            with archive.open(zipfile.ZipInfo(f"{key}.npy"), "w", force_zip64=True) as entry:
                npy, content = npy_type(tensor)
                entry.write(_header(npy, tensor.shape))
                entry.write(content)
            count += 1
    return count


def _header(npy: str, shape: tuple[int, ...]) -> bytes:
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
