"""Which place this is, by the file that the service writes."""

from pathlib import Path

import pytest

from smlocal.engine.client import place_here


@pytest.mark.parametrize(
    ("content", "app"),
    [
        ('{"AppType": "JupyterLab", "DomainId": "d-1", "SpaceName": "mine"}', "JupyterLab"),
        ('{"AppType": "CodeEditor"}', "CodeEditor"),
        ('{"AppType": "KernelGateway"}', "KernelGateway"),
        ('{"ResourceName": "a-notebook-instance"}', None),
        ('{"AppType": "Canvas"}', None),
        ('{"AppType": 1}', None),
        ("[]", None),
        ("not JSON", None),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}", None),
    ],
)
def test_the_file_tells_the_place(tmp_path: Path, content: str, app: str | None) -> None:
    (tmp_path / "metadata.json").write_text(content, encoding="latin-1")
    place = place_here(str(tmp_path / "metadata.json"))
    assert (place.app if place else None) == app


def test_most_machines_have_no_such_file(tmp_path: Path) -> None:
    assert place_here(str(tmp_path / "metadata.json")) is None
