"""Filters before and after the model, and input joined to output: the member DataProcessing.

Records are parsed, filtered and written one after the other: only one is held as values, and how much memory that
may take is estimated before it is parsed.
"""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.transform.json_path import WHOLE, JsonPathError, PathStep, definite, select

if TYPE_CHECKING:
    import csv
else:  # for jobs with filters
    csv = at_use("csv")

INPUT_KEY, OUTPUT_KEY = "SageMakerInput", "SageMakerOutput"
MOST_TEXT: Final = 32 << 20
"""Characters of one record or document."""
MOST_MEMORY: Final = 96 << 20
"""Bytes that its text, its values and what is written of them may take together."""
MOST_ROW: Final = 16 << 20
"""Characters of a row that is written, which takes four bytes of memory for each."""
MOST_WRITTEN: Final = 100 << 20
"""Characters that a record may become: a filter can select the same value several times."""
_TEXTS: Final = 3
"""What is parsed, the texts in it, and what is written."""
_WEIGHTS: Final = {",": 36, "[": 96, "{": 232, ":": 100, '"': 26}
"""Bytes of memory for what each of them stands for in JSON: a number, a list, an object, a key, half a text."""
_PIECE: Final = 1 << 20
"""Characters that are read at once."""
_FIELD: Final = 64
"""Bytes of memory for a field of CSV."""
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


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
    def of_answers(self) -> bool:
        """True if answers are parsed."""
        return self.join or bool(self.after)

    @property
    def nothing(self) -> bool:
        """True if records and answers stay as they are."""
        return not (self.before or self.of_answers)

    def sent(self, payload: bytes) -> Iterator[bytes]:
        """The payload that the container gets, if there is an InputFilter."""
        parts = (_selected(self.before, each, self.records, "InputFilter") for each in self._records(payload))
        return _lines(parts, newline=payload.endswith(b"\n"))

    def kept(self, payload: bytes, answer: BinaryIO) -> Iterator[bytes]:
        """The output for a payload and its answer, if answers are parsed."""
        newline = _ends_with_newline(answer)
        values = _parsed(answer, self.answers, one=not self.by_line, what="output from the algorithm")
        if self.join:
            values = self._joined(self._records(payload), values)
        return _lines((_selected(self.after, each, self.answers, "OutputFilter") for each in values), newline=newline)

    def _joined(self, records: Iterator[Any], values: Iterator[Any]) -> Iterator[Any]:
        pairs = 0
        for record in records:
            try:
                value = next(values)
            except StopIteration:
                raise _unequal(pairs + 1 + _count(records), pairs) from None
            pairs += 1
            yield [*record, *value] if self.records is RecordForm.CSV else _document_of(record, value)
        more = _count(values)
        if more:
            raise _unequal(pairs, pairs + more)

    def _records(self, payload: bytes) -> Iterator[Any]:
        return _parsed(io.BytesIO(payload), self.records, one=not self.by_line, what="input")


def _unequal(sent: int, back: int) -> ProcessingError:
    return ProcessingError(f"Failed to join the output to the input: {sent} records were sent, and {back} came back")


def _count(values: Iterator[Any]) -> int:
    return sum(1 for _ in values)


def _ends_with_newline(data: BinaryIO) -> bool:
    data.seek(max(0, data.seek(0, os.SEEK_END) - 1))
    last = data.read(1)
    data.seek(0)
    return last == b"\n"


def _document_of(record: Any, value: Any) -> Any:
    if isinstance(record, dict):
        return {**record, OUTPUT_KEY: value}
    return {INPUT_KEY: record, OUTPUT_KEY: value}


def _parsed(data: BinaryIO, form: RecordForm, *, one: bool, what: str) -> Iterator[Any]:
    """The values in it: lines, or one document."""
    with _as_text(data, newline="" if form is RecordForm.CSV else "\n") as text:
        try:
            yield from _rows(text, what) if form is RecordForm.CSV else _documents(text, what, one=one)
        except (ValueError, csv.Error, RecursionError) as error:
            raise ProcessingError(f"Failed to parse {what} as {form.value}") from error


@contextmanager
def _as_text(data: BinaryIO, *, newline: str) -> Iterator[io.TextIOWrapper]:
    text = io.TextIOWrapper(data, "utf-8-sig", newline=newline)
    try:
        yield text
    finally:
        with suppress(ValueError):  # the file is closed already
            text.detach()


def _rows(text: io.TextIOWrapper, what: str) -> Iterator[list[str]]:
    csv.field_size_limit(MOST_TEXT)  # one for the process
    memory = 0

    def lines() -> Iterator[str]:
        nonlocal memory
        while line := _text(text.readline, what, ends="\r\n"):
            memory += _TEXTS * sys.getsizeof(line) + _FIELD * line.count(",")
            _check(line, memory, what)
            yield line

    for row in csv.reader(lines(), strict=True):
        memory = 0
        if row:
            yield row


def _documents(text: io.TextIOWrapper, what: str, *, one: bool) -> Iterator[Any]:
    if one:
        yield _loaded(_text(text.read, what), what)
        return
    lines = (line for line in iter(partial(_text, text.readline, what, ends="\n"), "") if line.strip())
    first = next(lines, None)
    if first is None:
        return
    try:
        value = _loaded(first, what)
    except ValueError:
        value = _loaded(_text(text.read, what, before=first), what)  # one document on several lines
    yield value
    for line in lines:
        yield _loaded(line, what)


def _text(read: Callable[[int], str], what: str, *, ends: str = "", before: str = "") -> str:
    """A line with one of these ends, or all there is. The whole is as wide as its widest character."""
    first = read(_PIECE)
    if len(first) < _PIECE and not before:
        return first
    parts, size, width = [before + first], 0, 1
    while parts[-1]:
        last = parts[-1]
        size += len(last)
        width = max(width, (sys.getsizeof(last * 2) - sys.getsizeof(last)) // len(last))
        if size > MOST_TEXT or _TEXTS * width * size > MOST_MEMORY:
            raise _too_large(what)
        if last[-1] in ends:
            break
        parts.append(read(_PIECE))
    return "".join(parts)


def _loaded(text: str, what: str) -> Any:
    memory = _TEXTS * sys.getsizeof(text) + sum(weight * text.count(sign) for sign, weight in _WEIGHTS.items())
    _check(text, memory, what)
    return json.loads(text)


def _check(text: str, memory: int, what: str) -> None:
    if len(text) > MOST_TEXT or memory > MOST_MEMORY:
        raise _too_large(what)


def _too_large(what: str) -> ProcessingError:
    return ProcessingError(f"Failed to parse {what}: a record is too large to be filtered or joined")


def _selected(steps: tuple[PathStep, ...], value: Any, form: RecordForm, which: str) -> Iterator[str]:
    """What is selected of a value, as it is written."""
    try:
        found = select(steps, value)
    except JsonPathError as error:
        raise ProcessingError(f"{which} cannot be applied: {error}") from error
    written = _row(found) if form is RecordForm.CSV else _document(found, several=not definite(steps))
    size = 0
    for piece in written:
        size += len(piece)
        if size > MOST_WRITTEN:
            raise ProcessingError(f"{which} cannot be applied: what it selects of a record is too large")
        yield piece


def _lines(values: Iterator[Iterator[str]], *, newline: bool) -> Iterator[bytes]:
    some = False
    try:
        for value in values:
            for piece in chain(["\n"] if some else [], value):
                yield piece.encode()
            some = True
    except UnicodeEncodeError as error:  # "\ud83d" is valid JSON
        raise ProcessingError("a text has half of a surrogate pair, which cannot be written in UTF-8") from error
    except RecursionError as error:
        raise ProcessingError("a document is too deeply nested to be written") from error
    if some and newline:
        yield b"\n"


def _row(value: Any) -> Iterator[str]:
    fields: Sequence[Any] = value if isinstance(value, list) else [value]
    if sum(map(len, fields)) > MOST_ROW:
        raise ProcessingError("a row is too large to be written")
    with io.StringIO() as text:
        csv.writer(text, lineterminator="").writerow(fields)
        yield text.getvalue()


def _document(value: Any, *, several: bool) -> Iterator[str]:
    """A document. `several`: a list that may have the same large value several times."""
    if not several:
        yield _ENCODER.encode(value)
        return
    for index, each in enumerate(value):
        yield "," if index else "["
        yield _ENCODER.encode(each)
    yield "]" if value else "[]"
