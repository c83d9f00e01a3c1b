"""Records, whole and damaged. `tests/jobs/rules` compares with the library itself."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.tensor_files import NUMBERS, record

from smlocal.debugger.tensors.saved_tensors import masked_crc32c, read_tensor
from smlocal.debugger.tensors.tensor import DamagedError

WHOLE = record("loss", 7, np.array([0.5, 0.25], np.float32))


def read(data: bytes) -> tuple[str, int, Any]:
    name, step, tensor = read_tensor(memoryview(data), 0, len(data))
    return name, step, tensor


def test_the_checksum_is_that_of_the_standard() -> None:
    assert masked_crc32c(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (3, 0)])
def test_every_data_type(kind: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
    name, step, tensor = read(record("gradient/net.weight", 1 << 40, array))
    assert (name, step, tensor.type.name, tensor.shape) == ("gradient/net.weight", 1 << 40, kind, shape)
    assert bytes(tensor.content) == array.tobytes()
    assert tensor.size == array.size
    if array.dtype.kind != "c":
        assert [value for piece in tensor.numbers() for value in piece] == array.ravel().tolist()
        assert tensor.single == (array.item() if array.size == 1 else None)


def test_text() -> None:
    _, _, tensor = read(record("names", 0, ["a", "", "größe"]))
    assert (tensor.type.name, tensor.shape, tensor.texts, tensor.size) == ("str", (3,), ("a", "", "größe"), 3)
    assert read(record("name", 0, ["one"]))[2].single == "one"


def test_checksums() -> None:
    assert read(record("loss", 7, np.float32(0.5), checksum=True))[2].single == 0.5
    with pytest.raises(DamagedError, match="the checksum of a record is wrong"):
        read(WHOLE[:20] + b"\0" + WHOLE[21:-4] + b"\1\2\3\4")
    with pytest.raises(DamagedError, match="the checksum of a record's length is wrong"):
        read(b"\xff" + WHOLE[1:])


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_a_record_that_is_cut_off(length: int) -> None:
    with pytest.raises(DamagedError):
        read(WHOLE[:length])
    with pytest.raises(DamagedError, match="bytes, and the record"):
        read_tensor(memoryview(WHOLE[:length]), 0, len(WHOLE))


def test_what_a_tensor_says_of_itself_must_be_right() -> None:
    twice = WHOLE.replace(b"\x08\x02", b"\x08\x03")  # the shape
    with pytest.raises(DamagedError, match=r"a tensor of the shape \[3\] has 2 values"):
        read(twice)
    unknown = WHOLE.replace(b"\x08\x01\x12", b"\x08\x0e\x12")
    with pytest.raises(DamagedError, match="the data type 14 is not known") as caught:
        read(unknown)
    assert 0 < caught.value.offset < len(WHOLE)
    with pytest.raises(DamagedError, match="text is not UTF-8"):
        read(WHOLE.replace(b"loss", b"lo\xff\xff", 1))


@given(st.binary(max_size=60), st.integers(12, len(WHOLE) - 5))
def test_garbage_is_damage_or_a_tensor(garbage: bytes, at: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[at : min(len(WHOLE) - 4, at + len(garbage))] = garbage[: len(WHOLE) - 4 - at]
    tensor = None
    with suppress(DamagedError):
        _, _, tensor = read(bytes(damaged))
    assert tensor is None or len(tensor.content) == tensor.size * tensor.type.size
