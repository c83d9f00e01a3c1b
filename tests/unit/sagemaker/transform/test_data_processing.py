"""Filters, and input joined to output."""

import json
from typing import Any

import pytest

from smlocal.sagemaker.transform.data_processing import Processing, ProcessingError, RecordForm, form_of
from smlocal.sagemaker.transform.json_path import parse


def processing(before: str = "$", after: str = "$", *, join: bool = False, **more: Any) -> Processing:
    return Processing(before=parse(before), after=parse(after), join=join, **more)


JSON: dict[str, Any] = {"records": RecordForm.JSON, "answers": RecordForm.JSON}


def test_without_filters_nothing_is_touched() -> None:
    none = processing()
    assert none.sent(b"not, \xff csv") == b"not, \xff csv"
    assert none.kept(b"1", b"\xfe any") == b"\xfe any"


def test_columns_are_left_out_of_rows() -> None:
    assert processing("$[1:]").sent(b'1,2,"a,b"\n4,5,6\n') == b'2,"a,b"\n5,6\n'
    assert processing("$[0]").sent(b"1,2\n3,4") == b"1\n3"


def test_rows_are_joined_with_their_answers() -> None:
    joined = processing("$[1:]", join=True)
    assert joined.kept(b"id1,2\nid2,4\n", b"0.5\n0.7\n") == b"id1,2,0.5\nid2,4,0.7\n"
    assert processing(after="$[0,-1]", join=True).kept(b"id1,2\nid2,4\n", b"0.5\n0.7\n") == b"id1,0.5\nid2,0.7\n"
    assert processing(join=True).kept(b"1,2,3", b"1") == b"1,2,3,1"


def test_a_field_may_be_as_long_as_a_payload() -> None:
    long = b"x" * 200_000
    assert processing("$[1:]", join=True).kept(b"1," + long + b"\n", b"2\n") == b"1," + long + b",2\n"


def test_documents_are_joined_with_their_answers() -> None:
    """The example of the guide, and a record that is no object."""
    one = processing(join=True, by_line=False, **JSON)
    assert json.loads(one.kept(b'{"key":1}', b'{"label":1}')) == {"key": 1, "SageMakerOutput": {"label": 1}}
    lines = processing(after="$['id','SageMakerOutput']", join=True, **JSON)
    kept = lines.kept(b'{"id":1,"features":[1]}\n{"id":2,"features":[2]}\n', b'{"label":"a"}\n{"label":"b"}\n')
    assert [json.loads(line) for line in kept.splitlines()] == [
        {"id": 1, "SageMakerOutput": {"label": "a"}},
        {"id": 2, "SageMakerOutput": {"label": "b"}},
    ]
    assert json.loads(one.kept(b"[1,2]", b"3")) == {"SageMakerInput": [1, 2], "SageMakerOutput": 3}
    assert processing("$.features", **JSON).sent(b'{"id":1,"features":[1,2]}\n') == b"[1,2]\n"


def test_the_output_is_filtered_without_a_join_too() -> None:
    assert (
        processing(after="$['class']", answers=RecordForm.JSON).kept(b"1,2", b'{"class":"a","score":1}\n') == b'"a"\n'
    )
    assert processing(after="$[0]").kept(b"1\n2\n", b"a,1\nb,2\n") == b"a\nb\n"


@pytest.mark.parametrize(
    ("by", "payload", "answer", "text"),
    [
        (processing(join=True), b"1\n2\n", b"a\n", "2 records were sent, and 1 came back"),
        (processing(after="$[1]"), b"1\n", b"a\n", "OutputFilter cannot be applied"),
        (processing(join=True, **JSON), b"{}\n", b"oops\n", "Failed to parse output from the algorithm as JSON"),
        (processing(join=True), b"1\n", b'"a\n', "Failed to parse output from the algorithm as CSV"),
        (processing(join=True), b"\xff\n", b"a\n", "Failed to parse input as CSV"),
        (processing(join=True, **JSON), b'"\\ud83d"\n', b"1\n", "half of a surrogate pair"),
    ],
)
def test_what_does_not_fit_is_said(by: Processing, payload: bytes, answer: bytes, text: str) -> None:
    with pytest.raises(ProcessingError, match=text):
        by.kept(payload, answer)
    with pytest.raises(ProcessingError, match="InputFilter cannot be applied: it has 2 elements, and none at 5"):
        processing("$[5]").sent(b"1,2\n")


def test_the_form_is_that_of_the_content_type() -> None:
    assert form_of("text/csv; charset=utf-8") is RecordForm.CSV
    assert form_of("application/jsonlines") is form_of("Application/JSON") is RecordForm.JSON
    assert form_of(None) is form_of("image/png") is None
