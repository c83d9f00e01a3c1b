import json
import re
from collections.abc import Callable

import pytest
from pages.inserted import with_tables

from smlocal.cli.main import run_command_line
from smlocal.jobfile.settings import LocalSettings
from smlocal.terms.model.structure import Structure, members

HEADING = "`Local`: settings of this machine"


def test_every_setting_has_a_row_and_every_row_is_a_setting(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(sections(with_tables(page("job-file.md")))[HEADING])
    assert [re.findall("`(.+)`", row[0])[0] for row in table] == list(members(LocalSettings))


def test_the_defaults_are_those_of_the_code(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    for cell, default, _, meaning in rows(sections(with_tables(page("job-file.md")))[HEADING]):
        name = re.findall("`(.+)`", cell)[0]
        actual = getattr(LocalSettings(), name)
        assert meaning
        if actual is not None:
            actual = actual.plain() if isinstance(actual, Structure) else actual
            shown = actual if isinstance(actual, str) else json.dumps(actual)
            assert default == f"`{shown}`", name


def test_help_has_every_setting_with_its_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["help", "local"]) == 0
    text = capsys.readouterr().out
    shown = [line.split("  ")[0] for line in text.split("\n\n")[1].splitlines() if not line.startswith(" ")]
    assert shown == list(members(LocalSettings))
    assert "Flag: --source" in text
