"""Which place this is, by the file that the service writes."""

from pathlib import Path

import pytest

from smlocal.engine.client import Client, place_here
from smlocal.engine.endpoint import parse_address
from smlocal.engine.facts import Place
from smlocal.errors import EngineUnreachableError


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


def test_without_an_engine_the_administrator_of_the_domain_is_named(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{"AppType": "JupyterLab", "DomainId": "d-1"}')
    client = Client(parse_address(f"unix://{tmp_path}/none.sock", None))
    client.place = place_here(str(tmp_path / "metadata.json"))
    assert client.place == Place(app="JupyterLab", domain="d-1")
    with pytest.raises(EngineUnreachableError) as caught:
        client.greet()
    first, command, last = caught.value.remedy
    assert "SageMaker Studio has no Docker unless an administrator" in first
    assert "update-domain --domain-id d-1 " in command
    assert '"EnableDockerAccess":"ENABLED"' in command
    assert "stop this space and run it again" in last
