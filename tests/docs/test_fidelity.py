"""Every note of a job is in the table that `smlocal help ID` shows, and every row is a note."""

import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

from smlocal.cli.commands.help import note_rows
from smlocal.jobs import spreading
from smlocal.jobs.planning.aspects.inputs import look_space
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.pipelines import planning as pipelines
from smlocal.sagemaker.hosting import planning as hosting
from smlocal.sagemaker.processing import planning as processing
from smlocal.sagemaker.training import notes
from smlocal.sagemaker.transform import planning as transform
from smlocal.sagemaker.tuning import planning as tuning

RULES = [rule for each in notes.RULES for rule in ([each] if isinstance(each, NoteRule) else each.rules)]
ROWS = {row.id: row for row in note_rows()}
OF_TRAINING = {rule.id for rule in RULES}


def ids_in(module: ModuleType) -> Iterator[str]:
    """The notes that a kind of jobs makes by itself."""
    return (found[1] for found in re.finditer(r'(?:yield \(?\s*|Note\(id=)"([a-z-]+)"\s*,', inspect.getsource(module)))


def test_every_note_has_a_row_and_every_row_is_a_note() -> None:
    of_kinds = {
        each
        for module in (hosting, processing, transform, tuning, pipelines, spreading, look_space)
        for each in ids_in(module)
    }
    assert sorted(ROWS) == sorted(OF_TRAINING | of_kinds)
    assert len(ROWS) == len(note_rows())
    assert all(row.when and row.meaning for row in ROWS.values())


@pytest.mark.parametrize(
    "module", [hosting, processing, transform, tuning, pipelines], ids=lambda module: module.__name__
)
def test_each_kind_has_notes(module: ModuleType) -> None:
    assert {*ids_in(module)} <= ROWS.keys()
    assert [*ids_in(module)]


def test_warnings_are_called_warnings() -> None:
    called = {row.id for row in ROWS.values() if row.meaning.startswith("Warning.")}
    others = "".join(map(inspect.getsource, (tuning, spreading, look_space)))
    found = set(re.findall(r'Note\(id="([a-z-]+)", [^\n]*warning=True', others))
    assert called == {rule.id for rule in RULES if rule.warning} | found
