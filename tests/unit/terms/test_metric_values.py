import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.sagemaker.contract.requested import definitions_of
from smlocal.terms.metrics import (
    MetricPattern,
    MetricValue,
    TriedDefinition,
    final_metric_data,
    is_later,
    number_in,
    single_precision,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.03457", 0.03457000106573105),
        ("-1.5e-3", -0.001500000013038516),
        ("+2E2", 200.0),
        (".5", 0.5),
        ("7.", 7.0),
        ("  3 ", 3.0),
        ("1e-50", 0.0),
        ("3.4028235e38", 3.4028234663852886e38),
    ],
)
def test_a_number_is_kept_in_single_precision(text: str, value: float) -> None:
    assert number_in(text) == value


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "dog",
        "nan",
        "NaN",
        "-nan",
        "inf",
        "Infinity",
        "-inf",
        "1e39",
        "1e999",
        "1_000",
        "٣",
        "0x10",
        "1,5",
        "1 2",
    ],
)
def test_what_is_no_number_is_dropped(text: str | None) -> None:
    assert number_in(text) is None


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_what_is_single_stays_as_it_is(value: float) -> None:
    assert single_precision(value) == value


@given(st.floats())
def test_a_single_is_finite_and_the_nearest(value: float) -> None:
    single = single_precision(value)
    if single is None:
        assert not math.isfinite(value) or abs(value) > 3.4e38
    else:
        assert struct.unpack("f", struct.pack("f", value))[0] == single


@pytest.mark.parametrize(
    ("one", "other", "later"),
    [(2.0, 1.0, True), (1.0, 2.0, False), (1.0, 1.0, True), (None, 1.0, False), (1.0, None, True), (None, None, True)],
)
def test_the_later_value_is(one: float | None, other: float | None, later: bool) -> None:
    assert is_later(one, other) is later


def test_the_final_list_has_whole_seconds() -> None:
    last = [
        MetricValue(name="loss", value=0.5, at=1700000000.987, host="algo-2"),
        MetricValue(name="acc", value=0.25, at=None, host="algo-1"),
    ]
    assert final_metric_data(last) == [
        {"MetricName": "loss", "Value": 0.5, "Timestamp": 1700000000},
        {"MetricName": "acc", "Value": 0.25},
    ]


@pytest.mark.parametrize(
    "request_",
    [{}, {"AlgorithmSpecification": {}}, {"AlgorithmSpecification": {"MetricDefinitions": None}}],
)
def test_a_request_may_define_none(request_: dict[str, object]) -> None:
    assert definitions_of(request_) == ()


def test_definitions_are_read_in_their_order() -> None:
    given = [{"Name": name, "Regex": "(a)"} for name in ("b", "a")]
    definitions = definitions_of({"AlgorithmSpecification": {"MetricDefinitions": given}})
    assert definitions[1] == MetricPattern(name="a", regex="(a)")


@pytest.mark.parametrize(
    ("tried", "verdict"),
    [
        (TriedDefinition(name="m", value=0.5, text="0.5", found=True), "0.5"),
        (TriedDefinition(name="m"), "no match"),
        (
            TriedDefinition(name="m", text="dog", found=True),
            "no value: the first group matched 'dog', which is not a number",
        ),
        (TriedDefinition(name="m", found=True), "no value: the first group matched nothing, which is not a number"),
        (TriedDefinition(name="m", slow=True), "stopped after 100 ms: a line that takes longer has no value"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_try_is_told_in_words(tried: TriedDefinition, verdict: str) -> None:
    assert tried.verdict == verdict
