"""What Docker says at the start of a container that cannot be on its network, and which addresses are the swarm's."""

import pytest

from smlocal.engine.networks import attachment_error, overlay_document
from smlocal.errors import EngineError, NetworkAttachError, NetworkGoneError


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("attaching to network failed, make sure your network options are correct and check …", NetworkAttachError),
        ("Could not attach to network job: context deadline exceeded", NetworkAttachError),
        ("Could not attach to network job: rpc error: code = NotFound desc = network job not found", NetworkGoneError),
        ("network 0ee1cd30 not found", NetworkGoneError),
        ("driver failed programming external connectivity: network is unreachable", None),
    ],
)
def test_the_words_of_docker(words: str, found: type[EngineError] | None) -> None:
    better = attachment_error(EngineError(words, status=500))
    assert type(better) is (found or type(None))
    assert better is None or (better.sentence, better.status) == (words, 500)


def test_the_swarm_has_the_first_half_of_the_addresses() -> None:
    document = overlay_document("job", {}, subnet="10.0.9.0/29", gateway="10.0.9.1", isolated=True)
    assert document["IPAM"]["Config"] == [{"Subnet": "10.0.9.0/29", "Gateway": "10.0.9.1", "IPRange": "10.0.9.0/30"}]
    assert document["Internal"]
