import json
from collections.abc import Callable

from smlocal.jobfile.settings import LocalSettings
from smlocal.terms.model.structure import Structure, members

HEADING = "`Local`: settings of this machine"


def test_every_setting_has_a_row_and_every_row_is_a_setting(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(sections(page("job-file.md"))[HEADING])
    assert [row[0].strip("`") for row in table] == list(members(LocalSettings))


def test_the_defaults_are_those_of_the_code(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    for name, default, meaning in rows(sections(page("job-file.md"))[HEADING]):
        actual = getattr(LocalSettings(), name.strip("`"))
        assert meaning
        if actual is not None:
            actual = actual.plain() if isinstance(actual, Structure) else actual
            shown = actual if isinstance(actual, str) else json.dumps(actual)
            assert default == f"`{shown}`", name
