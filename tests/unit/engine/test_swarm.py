"""Engines of one job have to be different ones of one swarm, with a manager among them."""

from dataclasses import replace

import pytest

from smlocal.engine.interface import SwarmMember
from smlocal.engine.networks import check_swarm, swarm_member
from smlocal.errors import EngineTwiceError, NotInSwarmError, SmlocalError, SwarmManagerError, SwarmsDifferError

MANAGER = SwarmMember(address="tcp://a", node_id="na", state="active", is_manager=True, nodes=frozenset({"na", "nb"}))
WORKER = SwarmMember(address="tcp://b", node_id="nb", state="active", is_manager=False)


def test_the_manager_is_found_wherever_it_is() -> None:
    assert check_swarm([WORKER, MANAGER]) == "tcp://a"
    assert check_swarm([MANAGER, WORKER]) == "tcp://a"


@pytest.mark.parametrize(
    ("members", "error", "words"),
    [
        ([MANAGER, replace(WORKER, state="inactive")], NotInSwarmError, "the engine at tcp://b is not in a swarm"),
        ([MANAGER, replace(WORKER, node_id="other")], SwarmsDifferError, "tcp://a and tcp://b are in different swarms"),
        ([replace(MANAGER, is_manager=False, nodes=None), WORKER], SwarmManagerError, "no manager of the swarm"),
        ([replace(MANAGER, nodes=None, trouble="no leader"), WORKER], SwarmManagerError, "cannot be managed now"),
        ([MANAGER, replace(MANAGER, address="tcp://c")], EngineTwiceError, "tcp://a and tcp://c are the same one"),
    ],
)
def test_engines_that_are_no_swarm(members: list[SwarmMember], error: type[SmlocalError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        check_swarm(members)
    assert caught.value.remedy


def test_an_engine_without_swarms_is_in_none() -> None:
    assert swarm_member("unix:///podman", {}).state == "inactive"
