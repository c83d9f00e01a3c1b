"""Ports of containers on the engine's machine."""

from smlocal.engine.documents import container_document
from smlocal.engine.interface import ContainerSpec


def test_a_port_is_published_as_itself_or_as_another() -> None:
    spec = ContainerSpec(
        name="held",
        image="held",
        labels={},
        entrypoint=None,
        command=None,
        environment={},
        hostname="held",
        ports=(5678,),
        published={8080: 41234},
    )
    document = container_document(spec)
    assert document["ExposedPorts"] == {"5678/tcp": {}, "8080/tcp": {}}
    assert document["HostConfig"]["PortBindings"] == {
        "5678/tcp": [{"HostIp": "127.0.0.1", "HostPort": "5678"}],
        "8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": "41234"}],
    }
