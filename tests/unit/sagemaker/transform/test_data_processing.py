"""Filters, and input joined to output."""

import json
import tracemalloc
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

import pytest

from smlocal.sagemaker.transform.data_processing import MOST_TEXT, Processing, ProcessingError, RecordForm, form_of
from smlocal.sagemaker.transform.json_path import parse


@dataclass(frozen=True, kw_only=True)
class Whole:
    """What is done, with all of each result."""

    by: Processing

    def sent(self, payload: bytes) -> bytes:
        return b"".join(self.by.sent(payload))

    def kept(self, payload: bytes, answer: bytes) -> bytes:
        with SpooledTemporaryFile() as file:
            file.write(answer)
            return b"".join(self.by.kept(payload, cast("BinaryIO", file)))


def processing(before: str = "$", after: str = "$", *, join: bool = False, **more: Any) -> Whole:
    return Whole(by=Processing(before=parse(before), after=parse(after), join=join, **more))


JSON: dict[str, Any] = {"records": RecordForm.JSON, "answers": RecordForm.JSON}


def test_without_filters_nothing_is_touched() -> None:
    assert processing().by.nothing
    assert not processing("$[1:]").by.nothing
    assert not processing("$[1:]").by.of_answers
    assert processing(after="$[1:]").by.of_answers


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
def test_what_does_not_fit_is_said(by: Whole, payload: bytes, answer: bytes, text: str) -> None:
    with pytest.raises(ProcessingError, match=text):
        by.kept(payload, answer)
    with pytest.raises(ProcessingError, match="InputFilter cannot be applied: it has 2 elements, and none at 5"):
        processing("$[5]").sent(b"1,2\n")


def test_the_form_is_that_of_the_content_type() -> None:
    assert form_of("text/csv; charset=utf-8") is RecordForm.CSV
    assert form_of("application/jsonlines") is form_of("Application/JSON") is RecordForm.JSON
    assert form_of(None) is form_of("image/png") is None


def test_records_are_read_one_after_the_other() -> None:
    """The second is not parsed before the first is written."""
    pieces = Processing(before=parse("$[0]"), **JSON).sent(b"[1]\noops\n")
    assert next(pieces) == b"1"
    with pytest.raises(ProcessingError, match="Failed to parse input as JSON"):
        list(pieces)


def test_one_document_may_be_on_several_lines() -> None:
    assert processing("$.a", **JSON).sent(b'\n{"a":\n [1,\n2]}\n') == b"[1,2]\n"
    assert processing("$.a", **JSON).sent(b"\n \n") == b""


@pytest.mark.parametrize(
    ("by", "payload", "text"),
    [
        (processing("$[0]"), b"x" * (MOST_TEXT + 1), "a record is too large"),
        (processing("$[0]"), b"," * (2 << 20), "a record is too large"),
        (processing("$[0]"), b'"' + b"x\n" * (16 << 20), "a record is too large"),
        (processing("$[0]", **JSON), b"[" + b"[]," * (1 << 20) + b"1]", "a record is too large"),
        (processing("$[0]", **JSON), b"[" * 60_000, "Failed to parse input as JSON"),
        (processing("$[0,0,0,0,0]"), b"x" * (4 << 20), "a row is too large"),
        (processing("$[0,0,0,0,0,0,0]", **JSON), b'["' + b"x" * (16 << 20) + b'"]', "is too large"),
        (processing("$" + "[:,:]" * 10, **JSON), b"[" * 10 + b"0," * 9999 + b"0" + b"]" * 10, "more than 4,194,304"),
    ],
    ids=["long", "fields", "quoted", "lists", "nested", "row", "text", "values"],
)
def test_what_would_take_much_memory_is_refused(by: Whole, payload: bytes, text: str) -> None:
    with pytest.raises(ProcessingError, match=text):
        by.sent(payload)


@pytest.mark.parametrize("depth", [900, 950, 985, 990, 60_000])
def test_an_answer_may_be_nested_too_deep(depth: int) -> None:
    """How deep it may be depends on Python: it is kept, or it is said why not."""
    nested = b"[" * depth + b"]" * depth
    said: list[str] = []
    try:
        kept = processing(join=True, by_line=False, **JSON).kept(b"1", nested)
    except ProcessingError as error:
        said.append(str(error))
    else:
        said.append("" if kept == b'{"SageMakerInput":1,"SageMakerOutput":' + nested + b"}" else kept.decode())
    parsed = "Failed to parse output from the algorithm as JSON"
    assert set(said) <= {"", parsed, "a document is too deeply nested to be written"}


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "by",
    [processing("$[0]"), processing("$[0]", **JSON), processing("$[0]", by_line=False, **JSON)],
    ids=["row", "line", "document"],
)
def test_one_wide_character_does_not_make_a_large_text(by: Whole) -> None:
    payload = '["😀'.encode() + b"x" * (31 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(ProcessingError, match="a record is too large"):
            by.sent(payload)
        assert tracemalloc.get_traced_memory()[1] < 60 << 20
    finally:
        tracemalloc.stop()


def test_lines_may_be_longer_than_a_piece() -> None:
    long = b"x" * (1 << 20)
    for lines in (long + b"\n" + b"a\n", long[1:] + b"\n" + long + b"\r\n", long + b"x,1\r\nb\r\n"):
        assert processing("$[0]").sent(lines) == b"".join(
            line.partition(b",")[0] + b"\n" for line in lines.splitlines()
        )
    document = b'{"a":\n"' + long + b'"}'
    assert processing("$.a", **JSON).sent(document) == b'"' + long + b'"'
    both = b'{"a":"\xf0\x9f\x98\x80' + long + b'"}\n{"a":1}\n'
    assert processing("$.a", **JSON).sent(both) == both.partition(b"\n")[0][5:-1] + b"\n1\n"
