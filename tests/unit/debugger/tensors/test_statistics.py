import math
import struct
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.tensor_files import NUMBERS, record

from smlocal.debugger.tensors.saved_tensors import read_tensor
from smlocal.debugger.tensors.tensor import Tensor, statistics_of, write_npz


def tensor_of(array: Any) -> Tensor:
    data = record("any", 0, array)
    return read_tensor(memoryview(data), 0, len(data))[2]


@given(st.lists(st.floats(width=32), min_size=1, max_size=50))
def test_statistics_are_those_of_numpy(numbers: list[float]) -> None:
    array = np.array(numbers, np.float32)
    found = statistics_of(tensor_of(array))
    assert found is not None
    finite = array[np.isfinite(array)].astype(np.float64)
    assert found.nans == np.isnan(array).sum()
    assert found.infinities == np.isinf(array).sum()
    assert found.zeros == (array == 0).sum()
    if finite.size:
        assert (found.lowest, found.highest) == (finite.min(), finite.max())
        assert found.mean == pytest.approx(finite.mean(), rel=1e-9, abs=1e-12 * abs(finite).max())
        assert found.deviation == pytest.approx(finite.std(), rel=1e-6, abs=1e-9 * abs(finite).max())
    else:
        assert (found.lowest, found.highest, found.mean, found.deviation) == (None, None, None, None)


def test_more_values_than_are_looked_at_together() -> None:
    array = np.random.default_rng(1).normal(3, 2, 200_001).astype(np.float16)
    array[::1000] = 0
    found = statistics_of(tensor_of(array))
    assert found is not None
    assert found.zeros == 201
    assert found.mean == pytest.approx(array.astype(np.float64).mean(), rel=1e-12)
    assert found.deviation == pytest.approx(array.astype(np.float64).std(), rel=1e-12)


def test_values_at_the_limits() -> None:
    huge = statistics_of(tensor_of(np.array([1.7e308, 1.7e308, 0])))
    assert huge is not None
    assert huge.mean == math.inf
    flags = statistics_of(tensor_of(np.array([True, False, False])))
    assert flags is not None
    assert [repr(each) for each in (flags.lowest, flags.highest, flags.zeros)] == ["0", "1", "2"]
    for none in (np.array([], np.float32), ["a"], np.array([1j])):
        assert statistics_of(tensor_of(none)) is None


def test_numpy_loads_what_is_exported() -> None:
    arrays: dict[str, Any] = {f"of/{kind}@3": np.arange(6).reshape(2, 3).astype(kind) for kind in NUMBERS}
    arrays |= {"scalar@0": np.float32(0.5), "none@0": np.zeros((2, 0)), "texts@0": np.array(["a", "größe", ""])}
    file = BytesIO()
    write_npz(file, ((key, tensor_of(array)) for key, array in arrays.items()))
    file.seek(0)
    with np.load(file) as loaded:
        assert {*loaded} == {*arrays}
        for key, array in arrays.items():
            assert loaded[key].dtype == np.asarray(array).dtype
            assert loaded[key].shape == np.shape(array)
            assert loaded[key].tobytes() == array.tobytes()
    (size,) = struct.unpack_from("<H", file.getvalue(), file.getvalue().index(b"\x93NUMPY") + 8)
    assert (size + 10) % 64 == 0
