import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.host.data_parallel import data_parallel_block, read_record


def rank(number: int, **more: Any) -> dict[str, Any]:
    about = {"Library": "stand-in", "Rank": number, "WorldSize": 3, "Backend": "gloo", "Mode": "balanced"}
    return {**about, "PyTorch": "2.13.0", "Python": "3.11", **more}


def counted(number: int) -> dict[str, Any]:
    buffers = [
        {"Bytes": 40, "Ready": 10.5, "Begin": 10.6, "End": 11.1},
        {"Bytes": 20, "Ready": 11.0, "Begin": 11.1, "End": 11.2},
        {"Bytes": 20, "Ready": 11.05, "Begin": 11.2, "End": 11.3},
    ]
    last = {"Began": 10.0, "ServedBytes": 28, "Buffers": buffers}
    return rank(number, Buffers=9, ServedBytes=84 + number, Iterations=3, VariableBytes=[64, 12, 4], LastIteration=last)


def test_counts_stand_by_server() -> None:
    block = data_parallel_block([counted(2), counted(0), counted(1)])
    balanced = block.pop("Balanced")
    assert block == {
        "Library": "stand-in",
        "Mode": "balanced",
        "Backend": "gloo",
        "PyTorch": "2.13.0",
        "Python": "3.11",
        "WorldSize": 3,
        "Ranks": 3,
    }
    assert balanced["ServerBytes"] == [84, 85, 86]
    assert balanced["IterationBytes"] == {"Balanced": [28, 28, 28], "WholeVariables": [64, 12, 4]}
    assert balanced["Buffers"] == 9
    assert balanced["Iterations"] == 3
    last = balanced["LastIteration"]
    assert last["Buffers"][0] == {"Bytes": 40, "Ready": 0.5, "Begin": 0.6, "End": 1.1}
    # The first began at 0.6, before the second was ready at 1.0; the second at 1.1, after the third at 1.05.
    assert last["BegunBeforeTheNextWasReady"] == 1


def test_ranks_of_tensorflow() -> None:
    about = {"Library": "stand-in", "Rank": 0, "WorldSize": 1, "Backend": "collectives", "Mode": "plain"}
    block = data_parallel_block([{**about, "TensorFlow": "2.21.0", "Python": "3.11"}])
    assert block["TensorFlow"] == "2.21.0"
    assert "PyTorch" not in block


def test_which_library() -> None:
    assert data_parallel_block([]) == {"Library": None}
    without_rank = {"Library": "stand-in", "Mode": "balanced", "Backend": "gloo"}
    assert data_parallel_block([without_rank]).items() >= {"Library": "stand-in", "Ranks": 0, "WorldSize": 0}.items()
    assert data_parallel_block([without_rank, counted(0)]) == data_parallel_block([counted(0)])
    image = {"Library": "image", "Folder": "/opt/conda/smdistributed/dataparallel"}
    assert data_parallel_block([image]) == image
    assert "Balanced" not in data_parallel_block([rank(0, Mode="plain")])


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"Library": "other"}', b"1e999"])
def test_what_is_no_record(content: bytes) -> None:
    assert read_record(content) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_NAMES = st.sampled_from(sorted({*counted(0)} - {"Library"}))


@given(st.dictionaries(_NAMES, _JSON, max_size=4), _JSON, _JSON)
def test_a_record_may_be_anything(changes: dict[str, Any], buffer: Any, began: Any) -> None:
    last = {"Began": began, "Buffers": [buffer, counted(1)["LastIteration"]["Buffers"][0]]}
    for record in ({**counted(0), **changes}, {**counted(1), "LastIteration": last}):
        content = json.dumps(record, allow_nan=True).encode()
        found = read_record(content)
        assert found is not None
        json.dumps(data_parallel_block([found, counted(2)]), allow_nan=False)
