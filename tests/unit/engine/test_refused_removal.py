"""The end of a removal that an engine refuses."""

from typing import Any, cast

import pytest

from smlocal.engine.docker import MISCOUNTED, is_no_manager, miscounted, seconds_to_wait
from smlocal.errors import EngineError

IN_USE = "rpc error: code = FailedPrecondition desc = network iq9 is in use by task 2y7"


class Manager:
    def __init__(self, state: str) -> None:
        self.answers: dict[str, Any] = {
            "/tasks/2y7": {"NodeID": "n"},
            "/nodes/n": {"Status": {"State": state}},
            "/networks/used": {"Containers": {"abc": {}}},
            "/networks/unused": {"Containers": {}},
        }

    def read(self, path: str) -> Any:
        if path not in self.answers:
            raise EngineError("not found", status=404)
        return self.answers[path]


def seconds(words: str, status: int, state: str = "ready") -> float:
    return seconds_to_wait(cast("Any", Manager(state)), EngineError(words, status=status))


@pytest.mark.parametrize(("state", "waits"), [("ready", True), ("unknown", True), ("down", False)])
def test_an_engine_that_is_down_is_not_waited_for(state: str, *, waits: bool) -> None:
    assert (seconds(IN_USE, 400, state) > 0) is waits


def test_a_task_that_has_gone_meanwhile() -> None:
    assert seconds(IN_USE.replace("2y7", "other"), 400) > 0


def test_other_refusals() -> None:
    assert seconds("removal of container abc is already in progress", 409) > 0
    assert seconds("cannot remove - tried to kill container, but did not receive an exit event", 500) > 0
    assert seconds("volume is in use", 409) == 0
    assert is_no_manager(EngineError("This node is not a swarm manager. Worker nodes can't be used …", status=503))
    assert not is_no_manager(EngineError(IN_USE, status=400))


@pytest.mark.parametrize(("network", "better"), [("used", False), ("unused", True)])
def test_a_network_that_is_kept_for_nobody(network: str, *, better: bool) -> None:
    client, path = cast("Any", Manager("ready")), f"/networks/{network}"
    found = miscounted(client, path, EngineError(f"network {network} has active endpoints", status=403))
    assert (found.sentence if found else None) == (MISCOUNTED if better else None)
    assert miscounted(client, path, EngineError("network is predefined", status=403)) is None
