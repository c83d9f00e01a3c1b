"""The files of the debugger's library: the index of tensors, with their steps and files, and their values.

Only the parts of event files that the library writes are read. Offsets in errors are those of the file.
"""

import json
import math
import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.debugger.tensors.tensor import TEXT, TYPES, Damage, DamagedError, Tensor, mapped, read_regular_file

_INDEX, _COLLECTIONS = "index", "collections"
_END = "training_job_end.ts"
_INDEX_NAME = re.compile(r"(\d{1,18})_(.+)\.json")
_COLLECTIONS_NAME = re.compile(r".*_?collections\.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedTensor:
    """A tensor of one step, as one worker has saved it."""

    name: str
    step: int
    """Counted over all modes."""
    mode: str
    """`TRAIN`, `EVAL`, `PREDICT`, or `GLOBAL` if the script has not set one."""
    mode_step: int
    worker: str
    file: str
    """Below the folder with the tensors."""
    start: int
    length: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedTensors:
    """The tensors of a folder."""

    tensors: Sequence[SavedTensor]
    """By step and worker, then as they were written."""
    damaged: Sequence[Damage]


def saved_tensors(folder: str) -> SavedTensors:
    """Read all index files. A job may still write more; until its end, files that are not there yet are left out."""
    over = os.path.lexists(f"{folder}/{_END}")
    found: list[SavedTensor] = []
    damaged: list[Damage] = []
    for path in sorted(_files(folder, _INDEX, _INDEX_NAME), key=os.path.basename):
        try:
            tensors = [*_read_index(folder, path)]
            if tensors and (over or os.path.lexists(f"{folder}/{tensors[0].file}")):
                found += tensors
        except DamagedError as error:
            damaged.append(Damage(file=path, offset=error.offset, problem=error.problem))
    return SavedTensors(tensors=found, damaged=damaged)


def collections_of(folder: str) -> dict[str, frozenset[str]]:
    """The names of the tensors of each collection. Unreadable ones are left out."""
    found: dict[str, frozenset[str]] = {}
    for path in _files(folder, _COLLECTIONS, _COLLECTIONS_NAME):
        try:
            collections = _document(folder, path).get("collections")
        except DamagedError:
            continue
        for name, about in collections.items() if isinstance(collections, dict) else ():
            names = about.get("tensor_names") if isinstance(about, dict) else None
            if isinstance(names, list):
                found[name] = found.get(name, frozenset()) | {each for each in names if isinstance(each, str)}
    return found


def _files(folder: str, below: str, named: re.Pattern[str]) -> Iterator[str]:
    for directory, _, names in os.walk(f"{folder}/{below}"):
        yield from (os.path.relpath(f"{directory}/{name}", folder) for name in names if named.fullmatch(name))


def _read_index(folder: str, path: str) -> Iterator[SavedTensor]:
    document = _document(folder, path)
    named = _INDEX_NAME.fullmatch(os.path.basename(path))
    try:
        meta, payload = document["meta"], document["tensor_payload"]
        if not payload or named is None:
            return  # shapes only
        file = os.path.normpath(meta["event_file_name"])
        if os.path.isabs(file) or file.startswith(".."):
            raise DamagedError(0, f"it names a file outside of the folder: {file}")
        for each in payload:
            yield SavedTensor(
                name=str(each["tensorname"]),
                step=int(named[1]),
                mode=str(meta["mode"]),
                mode_step=int(meta["mode_step"]),
                worker=_worker(named[2]),
                file=file,
                start=int(each["start_idx"]),
                length=int(each["length"]),
            )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(0, f"it is not an index: {error!r}") from None


def _worker(name: str) -> str:
    """A device of TensorFlow as `/replica:0/task:0/device:GPU:0`; other workers as they are."""
    return name.replace("_", "/").replace("-", ":") if name.startswith("_") else name


def _document(folder: str, path: str) -> dict[str, Any]:
    try:
        document = json.loads(read_regular_file(f"{folder}/{path}"))
    except json.JSONDecodeError as error:
        raise DamagedError(error.pos, f"it is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise DamagedError(0, "it is not JSON") from None
    if not isinstance(document, dict):
        raise DamagedError(0, "it is not a JSON object")
    return document


def whole_values(
    folder: str, wanted: Iterable[SavedTensor], damaged: list[Damage]
) -> Iterator[tuple[SavedTensor, Tensor]]:
    """Those that can be read. The problems of the others are added to `damaged`, once."""
    for saved, value in read_values(folder, wanted):
        if isinstance(value, Tensor):
            yield saved, value
        elif value not in damaged:
            damaged.append(value)


def read_values(folder: str, wanted: Iterable[SavedTensor]) -> Iterator[tuple[SavedTensor, Tensor | Damage]]:
    """The value of each, in the given order. A file is opened once if its tensors follow each other."""
    name, file = "", memoryview(b"")
    for each in wanted:
        try:
            if each.file != name:
                name, file = "", mapped(f"{folder}/{each.file}")
                name = each.file
            found, step, tensor = read_tensor(file, each.start, each.length)
            if (found, step) != (each.name, each.step):
                raise DamagedError(each.start, f"the index has {each.name} of step {each.step:,} here")  # noqa: TRY301 - as the others
        except DamagedError as error:
            yield each, Damage(file=each.file, offset=error.offset, problem=error.problem)
        else:
            yield each, tensor


_HEAD, _TAIL = 12, 4


def _entry(number: int) -> int:
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    return number


_TABLE = tuple(_entry(number) for number in range(256))


def masked_crc32c(data: bytes | memoryview) -> int:
    """CRC-32C as records of TensorFlow have it.

    It is rotated by 15 bits and shifted by a constant, so that checksums of checksums do no harm.
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


_NO_CHECKSUM = masked_crc32c(b"0x12345678")
"""In place of the checksum of the content, unless the library was told to compute it."""
_MOST_DIGITS = 10
_LAST = 0x80
"""No byte but the last one of a number is less."""
_DIMENSION = 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIGNED = 1 << 63
Span = tuple[int, int]
"""Where the bytes of a field begin and end."""


def read_tensor(file: memoryview, start: int, length: int) -> tuple[str, int, Tensor]:
    """Name, step and value of the tensor in a record; `DamagedError` if there is none."""
    if start < 0 or length < _HEAD + _TAIL or start + length > len(file):
        raise DamagedError(start, f"the file has {len(file):,} bytes, and the record {length:,}")
    size, head_checksum = struct.unpack_from("<QI", file, start)
    if _checksum_of_length(size) != head_checksum:
        raise DamagedError(start, "the checksum of a record's length is wrong")
    begin, end = start + _HEAD, start + _HEAD + size
    if end + _TAIL > start + length:
        raise DamagedError(start, f"a record of {size:,} bytes is longer than the index says")
    (checksum,) = struct.unpack_from("<I", file, end)
    if checksum != _NO_CHECKSUM and checksum != masked_crc32c(file[begin:end]):
        raise DamagedError(start, "the checksum of a record is wrong")
    step, summary = 0, None
    for number, found in _fields(file, begin, end):
        if number == 2 and isinstance(found, int):  # noqa: PLR2004 - the numbers of fields, here and below
            step = found - (found >= _SIGNED) * 2 * _SIGNED
        elif number == 5:  # noqa: PLR2004 - as above
            summary = found
    name, tensor = _read_value(file, _span(file, _span(file, summary, begin), begin, 1))
    return name, step, tensor


@lru_cache
def _checksum_of_length(size: int) -> int:
    return masked_crc32c(struct.pack("<Q", size))


def _read_value(file: memoryview, value: Span) -> tuple[str, Tensor]:
    name, tensor = "", None
    for number, found in _fields(file, *value):
        if number == 1 and isinstance(found, tuple):
            name = _text(file, found)
        elif number == 8:  # noqa: PLR2004 - as above
            tensor = found
    return name, _read_content(file, _span(file, tensor, value[0]))


def _read_content(file: memoryview, tensor: Span) -> Tensor:
    number_of_type = 0
    shape: tuple[int, ...] = ()
    content: Span = (0, 0)
    texts: list[str] = []
    for number, found in _fields(file, *tensor):
        match number, found:
            case 1, int():
                number_of_type = found
            case 2, (int(), int()):
                shape = tuple(_size(file, dimension) for each, dimension in _fields(file, *found) if each == _DIMENSION)
            case 4, (int(), int()):
                content = found
            case 8, (int(), int()):
                texts.append(_text(file, found))
            case _:
                pass
    kind = TYPES.get(number_of_type)
    if kind is None:
        raise DamagedError(tensor[0], f"the data type {number_of_type} is not known")
    values = len(texts) if kind is TEXT else (content[1] - content[0]) / kind.size
    if values != math.prod(shape):
        raise DamagedError(tensor[0], f"a tensor of the shape {list(shape)} has {values:g} values")
    return Tensor(type=kind, shape=shape, content=file[slice(*content)], texts=tuple(texts))


def _size(file: memoryview, dimension: int | Span) -> int:
    if isinstance(dimension, int):
        return 0
    return next((found for number, found in _fields(file, *dimension) if number == 1 and isinstance(found, int)), 0)


def _span(file: memoryview, found: int | Span | None, at: int, number: int | None = None) -> Span:
    """The bytes of a field; of the field with this number in it."""
    if isinstance(found, tuple) and number is not None:
        found = next((inner for each, inner in _fields(file, *found) if each == number), None)
    if not isinstance(found, tuple):
        raise DamagedError(at, "a record has no tensor")
    return found


def _text(file: memoryview, span: Span) -> str:
    try:
        return str(file[slice(*span)], "utf-8")
    except UnicodeDecodeError:
        raise DamagedError(span[0], "text is not UTF-8") from None


def _fields(file: memoryview, at: int, end: int) -> Iterator[tuple[int, int | Span]]:
    """The fields of a message: number, and the value of a number or the place of bytes."""
    while at < end:
        begin = at
        key, at = _varint(file, at, end)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(file, at, end)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            length, at = _varint(file, at, end)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
        if length < 0 or at + length > end:
            raise DamagedError(begin, "a field is not a field, or longer than its message")
        yield key >> 3, (at, at + length)
        at += length


def _varint(file: memoryview, at: int, end: int) -> tuple[int, int]:
    if at < end and file[at] < _LAST:
        return file[at], at + 1  # as nearly all are, so this is what counts for speed
    value = 0
    for digit, byte in enumerate(file[at : min(end, at + _MOST_DIGITS)]):
        value |= (byte & 0x7F) << 7 * digit
        if byte < _LAST:
            return value, at + digit + 1
    raise DamagedError(at, "a number does not end")
