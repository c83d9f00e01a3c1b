"""Filters before and after the model, and input joined to output: the member DataProcessing."""

import csv
import io
import json
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.transform.json_path import WHOLE, JsonPathError, PathStep, select

INPUT_KEY, OUTPUT_KEY = "SageMakerInput", "SageMakerOutput"


class RecordForm(Enum):
    """What records and answers are."""

    CSV = "CSV"
    JSON = "JSON"


FORMS: Final = {
    "text/csv": RecordForm.CSV,
    "application/json": RecordForm.JSON,
    "application/jsonlines": RecordForm.JSON,
}
"""By content type."""


def form_of(content_type: str | None) -> RecordForm | None:
    """The form that a content type means; its parameters do not matter. None: no filter can be applied."""
    return FORMS.get((content_type or "").partition(";")[0].strip().lower())


class ProcessingError(Exception):
    """A record or an answer cannot be filtered or joined."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Processing:
    """What is done to records and answers."""

    before: tuple[PathStep, ...] = WHOLE
    """The part of a record that is sent."""
    after: tuple[PathStep, ...] = WHOLE
    """The part of an answer, or of a joined record, that is kept."""
    join: bool = False
    records: RecordForm = RecordForm.CSV
    answers: RecordForm = RecordForm.CSV
    by_line: bool = True
    """False if an object is one record."""

    @property
    def nothing(self) -> bool:
        """True if records and answers stay as they are."""
        return not (self.before or self.after or self.join)

    def sent(self, payload: bytes) -> bytes:
        """The payload that the container gets."""
        if not self.before:
            return payload
        parts = [_selected(self.before, each, "InputFilter") for each in self._records(payload)]
        return _lines(parts, self.records, newline=payload.endswith(b"\n"))

    def kept(self, payload: bytes, answer: bytes) -> bytes:
        """The output for a payload and its answer."""
        if not self.join and not self.after:
            return answer
        values = _parsed(answer, self.answers, one=not self.by_line, what="output from the algorithm")
        if self.join:
            records = self._records(payload)
            if len(records) != len(values):
                raise ProcessingError(
                    f"Failed to join the output to the input: {len(records)} records were sent, and "
                    f"{len(values)} came back"
                )
            rows = self.records is RecordForm.CSV
            pairs = zip(records, values, strict=True)
            values = [[*record, *value] if rows else _joined(record, value) for record, value in pairs]
        kept = [_selected(self.after, each, "OutputFilter") for each in values]
        return _lines(kept, self.answers, newline=answer.endswith(b"\n"))

    def _records(self, payload: bytes) -> list[Any]:
        return _parsed(payload, self.records, one=not self.by_line, what="input")


def _parsed(data: bytes, form: RecordForm, *, one: bool, what: str) -> list[Any]:
    """The values in it: lines, or one document."""
    try:
        text = data.decode("utf-8-sig")
        if form is RecordForm.CSV:
            csv.field_size_limit(sys.maxsize)  # one for the process; what is parsed is in memory already
            return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
        lines = [text] if one else [line for line in text.split("\n") if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            return [json.loads(text)]  # one document on several lines
    except (ValueError, csv.Error, RecursionError) as error:
        raise ProcessingError(f"Failed to parse {what} as {form.value}") from error


def _joined(record: Any, value: Any) -> Any:
    if isinstance(record, dict):
        return {**record, OUTPUT_KEY: value}
    return {INPUT_KEY: record, OUTPUT_KEY: value}


def _selected(steps: tuple[PathStep, ...], value: Any, which: str) -> Any:
    try:
        return select(steps, value)
    except JsonPathError as error:
        raise ProcessingError(f"{which} cannot be applied: {error}") from error


def _lines(values: Sequence[Any], form: RecordForm, *, newline: bool) -> bytes:
    written: Callable[[Any], str] = _row if form is RecordForm.CSV else _document
    text = "\n".join(map(written, values))
    try:
        return (text + "\n" if newline and values else text).encode()
    except UnicodeEncodeError as error:  # "\ud83d" is valid JSON
        raise ProcessingError("a text has half of a surrogate pair, which cannot be written in UTF-8") from error


def _row(value: Any) -> str:
    with io.StringIO() as text:
        csv.writer(text, lineterminator="").writerow(value if isinstance(value, list) else [value])
        return text.getvalue()


def _document(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
