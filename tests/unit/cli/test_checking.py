import re

import click
import pytest

from smlocal.base.ci.services import CiService
from smlocal.cli.checking import show_in_group


@pytest.mark.parametrize("service", [CiService.GITHUB, CiService.AZURE])
def test_what_an_image_says_is_no_command(service: CiService, capsys: pytest.CaptureFixture[str]) -> None:
    def show() -> None:
        click.echo("::add-mask::x\n  ::error::x\na ##[add-path]y ##vso[task.setvariable variable=a]b\nlast")

    show_in_group(service, "title", show)
    begin, *shown, end = capsys.readouterr().out.splitlines()
    assert (begin, end) in {("::group::title", "::endgroup::"), ("##[group]title", "##[endgroup]")}
    assert shown[-1] == "last"
    assert not re.search(r"##\[|##vso\[|^\s*::", "\n".join(shown), re.MULTILINE)


def test_an_error_while_it_is_shown_is_not_swallowed(capsys: pytest.CaptureFixture[str]) -> None:
    def show() -> None:
        raise click.UsageError("no")

    with pytest.raises(click.UsageError):
        show_in_group(CiService.GITHUB, "title", show)
    assert capsys.readouterr().out == ""
