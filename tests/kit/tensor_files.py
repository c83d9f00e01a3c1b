"""Folders as the debugger's library writes them."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from smlocal.debugger.tensors.saved_tensors import masked_crc32c

NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9, "bool": 10,
    "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip


def _varint(value: int) -> bytes:
    return bytes([value & 0x7F | 0x80]) + _varint(value >> 7) if value > 0x7F else bytes([value])


def _bytes(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def record(name: str, step: int, value: Any, *, checksum: bool = False) -> bytes:
    """One tensor as a record."""
    array = np.asarray(value)
    shape = b"".join(_bytes(2, _number(1, size) + _bytes(2, f"{name}_{size}".encode())) for size in array.shape)
    if array.dtype.kind == "U":
        tensor = _bytes(2, shape) + b"".join(_bytes(8, text.encode()) for text in array.tolist())
    else:
        tensor = _number(1, NUMBERS[array.dtype.name]) + _bytes(2, shape)
        tensor += _bytes(4, array.tobytes()) if array.size else b""
    metadata = _bytes(1, _bytes(1, b"mode") + _bytes(2, b"1"))
    summary = _bytes(1, _bytes(1, name.encode()) + _bytes(9, metadata) + _bytes(8, tensor))
    event = b"\x09" + struct.pack("<d", 1.5) + (_number(2, step) if step else b"") + _bytes(5, summary)
    head = struct.pack("<Q", len(event))
    tail = masked_crc32c(event if checksum else b"0x12345678")
    return head + struct.pack("<I", masked_crc32c(head)) + event + struct.pack("<I", tail)


def save(
    folder: Path,
    step: int,
    tensors: Mapping[str, Any],
    *,
    worker: str = "worker_0",
    mode: str = "TRAIN",
    mode_step: int = -1,
) -> None:
    """Add the tensors of one step and worker."""
    file = f"events/{step:012}/{step:012}_{worker}.tfevents"
    records = [record(name, step, value) for name, value in tensors.items()]
    starts = [sum(map(len, records[:number])) for number in range(len(records))]
    payload = [
        {"tensorname": name, "start_idx": start, "length": len(each)}
        for name, start, each in zip(tensors, starts, records, strict=True)
    ]
    meta = {"mode": mode, "mode_step": step if mode_step < 0 else mode_step, "event_file_name": file}
    index = folder / f"index/{step // 1000:09}/{step:012}_{worker}.json"
    for path in (folder / file, index):
        path.parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(b"".join(records))
    index.write_text(json.dumps({"meta": meta, "tensor_payload": payload, "shape_payload": []}))


def save_collections(folder: Path, worker: str = "worker_0", **names: list[str]) -> None:
    """Which tensors each collection has."""
    path = folder / "collections" / "000000000" / f"{worker}_collections.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"collections": {key: {"tensor_names": value} for key, value in names.items()}}))
