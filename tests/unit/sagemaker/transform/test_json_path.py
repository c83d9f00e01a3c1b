"""The subset of JSONPath that selects parts of records."""

from typing import Any

import pytest

from smlocal.sagemaker.transform.json_path import MOST_SELECTED, JsonPathError, parse, select

ROW = ["a", "b", "c", "d", "e"]
DOCUMENT = {"id": 7, "features": [1, 2, 3], "more": {"x": 1, "y": {"z": 2}}, "odd name": "o"}


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("$", ROW, ROW),
        ("$[1:]", ROW, ["b", "c", "d", "e"]),
        ("$[:2]", ROW, ["a", "b"]),
        ("$[1:4]", ROW, ["b", "c", "d"]),  # examples that work count: the end is left out, whatever the guide says
        ("$[:-1]", ROW, ["a", "b", "c", "d"]),
        ("$[0]", ROW, "a"),
        ("$[-1]", ROW, "e"),
        ("$[0,-1]", ROW, ["a", "e"]),
        ("$[0,3:]", ROW, ["a", "d", "e"]),
        ("$[*]", ROW, ROW),
        ("$.id", DOCUMENT, 7),
        ("$.features", DOCUMENT, [1, 2, 3]),
        ("$.features[0]", DOCUMENT, 1),
        ("$.features[1:]", DOCUMENT, [2, 3]),
        ("$['odd name']", DOCUMENT, "o"),
        ("$.more.y.z", DOCUMENT, 2),
        ("$.more.*", DOCUMENT, [1, {"z": 2}]),
        ("$['id','features']", DOCUMENT, {"id": 7, "features": [1, 2, 3]}),
        ("$.more.['x','y']", DOCUMENT, {"x": 1, "y": {"z": 2}}),
        ("$[9:]", ROW, []),
    ],
)
def test_a_part_is_selected(text: str, value: Any, found: Any) -> None:
    assert select(parse(text), value) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id",
        "$id",
        "$.",
        "$[",
        "$[a]",
        "$[1",
        "$['a'",
        "$..id",
        "$[?(@.a)]",
        "$['a' 'b']",
        "$[1:2:3]",
        "$[-:2]",
        "$[1:-]",
        "$[-]",
    ],
)
def test_what_is_no_such_expression_is_refused(text: str) -> None:
    with pytest.raises(JsonPathError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("$[5]", ROW), ("$[-6]", ROW), ("$.id", ROW)),
        *(("$.absent", DOCUMENT), ("$['id','absent']", DOCUMENT), ("$[0]", DOCUMENT)),
        *(("$.id.*", DOCUMENT), ("$.id[0]", DOCUMENT)),
    ],
)
def test_what_is_not_there_is_an_error(text: str, value: Any) -> None:
    with pytest.raises(JsonPathError):
        select(parse(text), value)


def test_the_values_that_are_selected_have_a_limit() -> None:
    """Each step doubles how many there are."""
    value: Any = [0] * 4096
    for _ in range(9):
        value = [value]
    assert len(select(parse("$" + "[:,:]" * 10), value)) == MOST_SELECTED
    with pytest.raises(JsonPathError, match="it selects more than 4,194,304 values"):
        select(parse("$" + "[:,:]" * 11), [value])
