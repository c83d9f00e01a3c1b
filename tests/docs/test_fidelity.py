import inspect
import re
from collections.abc import Callable
from pathlib import Path

from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.sagemaker.hosting import planning as hosting
from smlocal.sagemaker.training import notes
from smlocal.sagemaker.transform import planning as transform
from smlocal.sagemaker.tuning import planning as tuning

RULES = [rule for each in notes.RULES for rule in ([each] if isinstance(each, NoteRule) else each.rules)]


def test_every_note_has_a_row_and_every_row_is_a_note(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(sections(page("fidelity.md"))["Notes that a job gets"])
    assert sorted(row[0].strip("`") for row in table) == sorted(rule.id for rule in RULES)
    assert all(row[1] and row[2] for row in table)


def test_warnings_are_called_warnings(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(sections(page("fidelity.md"))["Notes that a job gets"])
    called = {row[0].strip("`") for row in table if row[2].startswith("Warning.")}
    assert called == {rule.id for rule in RULES if rule.warning}


def test_every_note_of_endpoints_and_transform_jobs_is_on_the_page(
    page: Callable[[str], str], sections: Callable[[str], dict[str, str]]
) -> None:
    found = sections(page("fidelity.md"))
    text = found["Endpoints"] + found["Transform jobs"]
    for module in (hosting, transform):
        source = inspect.getsource(module)
        ids = set(re.findall(r'yield \(?\s*"([a-z-]+)"', source))
        assert [each for each in ids - {rule.id for rule in RULES} if f"`{each}`" not in text] == []
        assert ids


def test_every_note_of_tuning_jobs_has_a_row_and_every_row_is_a_note(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(sections(page("fidelity.md"))["Tuning jobs"])
    source = Path(tuning.__file__).read_text(encoding="utf-8")
    assert sorted(row[0].strip("`") for row in table) == sorted(re.findall(r'"((?:relaxed-)?tuning-[a-z-]+)"', source))
