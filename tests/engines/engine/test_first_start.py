"""A dockerd that starts for the first time does not name the gateway of its bridge."""

import json

from tests.kit.fixtures import gateway
from tests.kit.own_engine import OwnEngine

from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress
from smlocal.jobs.planning.aspects.network.look import default_gateway


def test_this_machine_is_found_all_the_same(own_engine: OwnEngine) -> None:
    (bridge,) = json.loads(own_engine.docker("network", "inspect", "bridge"))
    first = bridge["IPAM"]["Config"][0]["Subnet"].replace(".0/16", ".1")
    assert gateway(own_engine.docker) == first
    engine = DockerEngine(EngineAddress(address=own_engine.address, path=own_engine.address.removeprefix("unix://")))
    assert default_gateway(engine.networks()) == first
