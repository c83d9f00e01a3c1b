"""The values that flowed between the steps of an execution: as they are written, and as they were."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import counted
from smlocal.jobs.page_parts import WITHHELD, Cell, Fold, Folds, Sentences, Table
from smlocal.pipelines.outline import spoken_value
from smlocal.pipelines.shown_steps import value_at
from smlocal.sagemaker.pipelines.definition import Definition, Step
from smlocal.sagemaker.pipelines.expressions import GET, expressions_in
from smlocal.sagemaker.pipelines.graph import own_arguments
from smlocal.sagemaker.pipelines.stored import StoredStep
from smlocal.terms.masking import HIDDEN, masked_request, masked_text
from smlocal.terms.validation.violation import dotted

_LONGEST: Final = 300
"""Characters of a value."""
_MOST_TEXT: Final = 90_000
"""Characters of all values, with what is around each table and each row."""
_TABLE, _ROW = 400, 120
_MOST_ROWS: Final = 60
"""Of one step."""
_COLUMNS: Final = ("Where", "Written", "Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Flowed:
    """One value."""

    where: str
    written: str
    value: str


def shown_value(name: str, value: Any) -> str:
    """A value in one short line, without secrets. `name`: of the member that has it."""
    if value is None:
        return "nothing"
    shown = masked_request({name: value})[name]
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    return cut(text.replace(HIDDEN, WITHHELD))


def cut(text: str) -> str:
    """At most so long that a table of them can be read."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def changed_value(key: str, value: Any) -> str:
    """A value of a key of the cache, which may be a word of a command."""
    text = shown_value(last_name(key), value)
    return masked_text(text).replace(HIDDEN, WITHHELD) if key.endswith("]") else text


def last_name(key: str) -> str:
    """The member in a path: `Environment` of `Environment[0]`."""
    return key.rpartition(".")[2].partition("[")[0]


def values_blocks(
    definition: Definition,
    parameters: Mapping[str, Any],
    given: Mapping[str, Any],
    steps: Mapping[str, tuple[Step, StoredStep]],
) -> Iterator[Folds | Sentences]:
    """A table for the parameters, and one for each step that has got or given values. `given`: of parameters."""
    folds: list[Fold] = []
    left, more = _MOST_TEXT, 0
    found = [("Parameters", list(_parameters(definition, parameters, given)))]
    found += [(name, list(_of_step(step, stored))) for name, (step, stored) in steps.items()]
    for title, flowed in found:
        rows = flowed[:_MOST_ROWS]
        if not rows:
            continue
        left -= _TABLE + sum(_ROW + len(each.where) + len(each.written) + len(each.value) for each in rows)
        if left < 0:
            more += 1
        else:
            folds.append(_fold(len(folds), title, rows, len(flowed)))
    if folds:
        yield Folds(folds=tuple(folds))
    if more:
        yield Sentences(texts=(f"{counted(more, 'more step')}: see smlocal describe --json.",))


def _fold(number: int, title: str, rows: list[Flowed], count: int) -> Fold:
    cells = tuple((Cell(text=each.where), Cell(text=each.written), Cell(text=each.value)) for each in rows)
    more = f", {len(rows)} of them are shown" if count > len(rows) else ""
    table = Table(columns=_COLUMNS, rows=cells, more="value")
    return Fold(id=f"values-{number}", title=title, detail=f"{counted(count, 'value')}{more}", table=table)


def _parameters(definition: Definition, values: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Flowed]:
    for name, parameter in definition.parameters.items():
        written = "given" if name in given else "its default"
        yield Flowed(where=name, written=f"{parameter.kind}, {written}", value=shown_value(name, values.get(name)))


def _of_step(step: Step, stored: StoredStep) -> Iterator[Flowed]:
    iteration = stored.progress.iteration
    if iteration is not None:
        yield Flowed(where=f"item {iteration.index}", written="", value=shown_value("Item", iteration.item))
    if isinstance(stored.arguments, Mapping):
        yield from _arguments(own_arguments(step), stored.arguments)
    answer = stored.answer or {}
    for name, value in (answer.get("OutputParameters") or {}).items():
        yield Flowed(where=f"output {name}", written="", value=shown_value(name, value))
    yield from _files(step, stored)
    if stored.waits is not None:
        yield Flowed(where="message", written="", value=shown_value("Message", stored.waits.get("Message")))


def _arguments(written: Mapping[str, object], arguments: Mapping[str, Any]) -> Iterator[Flowed]:
    shown: Any = masked_request(arguments)
    for path, expression in expressions_in(written):
        value = value_at(shown, path)
        hidden = HIDDEN in json.dumps(value, ensure_ascii=False) and GET not in expression  # it may have literals
        text = HIDDEN if hidden else spoken_value(expression)
        said = value if isinstance(value, str) else "nothing" if value is None else json.dumps(value)
        yield Flowed(
            where=dotted(path),
            written=cut(text).replace(HIDDEN, WITHHELD),
            value=cut(said.replace(HIDDEN, WITHHELD)),
        )


def _files(step: Step, stored: StoredStep) -> Iterator[Flowed]:
    """The property files that it has written, and where they are."""
    outputs = ((stored.answer or {}).get("ProcessingOutputConfig") or {}).get("Outputs") or ()
    places = {each["OutputName"]: each["S3Output"]["S3Uri"] for each in outputs if "S3Output" in each}
    for file in step.files:
        if file.output in places:
            uri = places[file.output]
            folder = stored.folders.get(uri)
            place = os.path.join(folder, file.file) if folder else f"{uri.rstrip('/')}/{file.file}"
            yield Flowed(where=f"file {file.name}", written=f"{file.output}: {file.file}", value=place)
