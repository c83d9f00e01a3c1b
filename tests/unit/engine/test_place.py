"""Which place this is, by the file that the service writes."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from smlocal.engine.client import Client, place_here
from smlocal.engine.documents import container_document
from smlocal.engine.endpoint import parse_address
from smlocal.engine.facts import Place
from smlocal.engine.interface import ContainerSpec, Mount
from smlocal.engine.place_engine import restricted
from smlocal.errors import EngineUnreachableError
from smlocal.terms.limits import Limits


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
        ('{"AppType": "JupyterLab", "More": ' + "[" * 100_000, None),
        ('{"AppType": "JupyterLab", "DomainId": "d-1; rm x"}', "JupyterLab"),
    ],
)
def test_the_file_tells_the_place(tmp_path: Path, content: str, app: str | None) -> None:
    (tmp_path / "metadata.json").write_text(content, encoding="latin-1")
    place = place_here(str(tmp_path / "metadata.json"))
    assert (place.app if place else None) == app
    assert place is None or place.domain in {"d-1", ""}


def test_what_is_no_ordinary_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "metadata.json")
    assert place_here(str(tmp_path / "metadata.json")) is None
    assert place_here("/dev/zero") is None


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


def test_a_container_asks_for_as_little_as_it_can() -> None:
    """No names, ports, addresses or DNS, which a shared network excludes; folders as compose mounts them."""
    spec = ContainerSpec(
        name="n",
        image="i",
        labels={"a": "b"},
        entrypoint=None,
        command=("c",),
        environment={"E": "1"},
        hostname="algo-1",
        extra_hosts={"algo-2": "10.0.0.2"},
        name_servers=("127.0.0.1",),
        ports=(5678,),
        network="sagemaker",
        address="10.0.0.1",
        aliases=("algo-1",),
        runtime="runc",
        behind_others=True,
        limits=Limits(memory=1 << 30),
        mounts=(
            Mount(source="/home/me/in", target="/in", read_only=True),
            Mount(source="volume", target="/out", volume=True),
        ),
    )
    document = restricted(container_document(spec), spec.mounts, "sagemaker")
    assert document == {
        "AttachStderr": True,
        "AttachStdin": False,
        "AttachStdout": True,
        "Cmd": ["c"],
        "Env": ["E=1"],
        "HostConfig": {
            "AutoRemove": False,
            "Binds": ["/home/me/in:/in:ro", "volume:/out:nocopy"],
            "CpuShares": 64,
            "Init": False,
            "Memory": 1 << 30,
            "MemorySwap": 1 << 30,
            "NetworkMode": "sagemaker",
            "RestartPolicy": {"Name": "no"},
        },
        "Image": "i",
        "Labels": {"a": "b"},
        "OpenStdin": False,
        "StdinOnce": False,
        "Tty": False,
    }
    colon = (Mount(source="/home/me/a:b", target="/in"),)
    host = restricted(container_document(replace(spec, mounts=colon)), colon, "sagemaker")["HostConfig"]
    assert "Binds" not in host
    assert host["Mounts"] == [{"Type": "bind", "Source": "/home/me/a:b", "Target": "/in", "ReadOnly": False}]
