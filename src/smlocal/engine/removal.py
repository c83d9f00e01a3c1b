"""Removes a resource from an engine. If it refuses: whether that is fine, how long to try again, and what is wrong."""

import re
import time
from typing import Final

from smlocal.engine.client import Client
from smlocal.engine.http import quote
from smlocal.engine.interface import Resource, ResourceKind
from smlocal.engine.networks import await_removal
from smlocal.engine.timeouts import Call
from smlocal.errors import EngineError

_PATHS: Final = {
    ResourceKind.CONTAINER: "/containers/",
    ResourceKind.VOLUME: "/volumes/",
    ResourceKind.NETWORK: "/networks/",
    ResourceKind.IMAGE: "/images/",
}
_ABSENT = 404
_FORBIDDEN = 403
_CONFLICT = 409
_SOMEBODY_SECONDS = 60.0
"""How long somebody else may need to remove it, or a container to end."""
_PAUSE_SECONDS = 0.05
_USED: Final = re.compile(r"is in use by task (\w+)")
_KILLED = "did not receive an exit event"
"""Docker has killed a container and saw no end of it for ten seconds: the machine is busy, perhaps with that one."""
_TASK_SECONDS = 10.0
"""How long the manager of a swarm may count containers that another engine has removed."""

MISCOUNTED: Final = (
    "the engine still counts removed containers on it (a bug of Docker before 28.1); after a restart of Docker the "
    "next job with a network removes it"
)
"""Docker has a list and a count of a network's containers. Only a restart corrects a wrong count."""


def remove(client: Client, resource: Resource) -> None:
    """Remove by force. Wait while somebody else removes it, and for a swarm to notice that it is free or gone."""
    parameters = {"force": "1"}
    if resource.kind is ResourceKind.CONTAINER:
        parameters["v"] = "1"
    if resource.kind in {ResourceKind.NETWORK, ResourceKind.IMAGE}:
        parameters = {}
    path = _PATHS[resource.kind] + quote(resource.id)
    begun = time.monotonic()
    while True:
        try:
            client.tell("DELETE", path, parameters=parameters, fine={_ABSENT}, call=Call.ACTION)
        except EngineError as error:
            if is_no_manager(error):
                break
            if resource.kind is ResourceKind.NETWORK and (better := miscounted(client, path, error)):
                raise better from error
            if time.monotonic() - begun >= seconds_to_wait(client, error):
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            break
    if resource.kind is ResourceKind.NETWORK:
        await_removal(client, path)


def is_no_manager(error: EngineError) -> bool:
    """True of a network on a worker, which forgets it with its last container. It is removed on a manager."""
    return "not a swarm manager" in error.sentence


def miscounted(client: Client, network: str, error: EngineError) -> EngineError | None:
    """A better error if Docker keeps a network, which is at this path, for containers that are not on it."""
    if error.status != _FORBIDDEN or "active endpoints" not in error.sentence:
        return None
    return None if client.read(network).get("Containers") else EngineError(MISCOUNTED, status=error.status)


def seconds_to_wait(client: Client, error: EngineError) -> float:
    """For how long the removal is worth trying again."""
    if error.status == _CONFLICT and "in progress" in error.sentence:
        return _SOMEBODY_SECONDS
    if _KILLED in error.sentence:
        return _SOMEBODY_SECONDS
    used = _USED.search(error.sentence)
    return _TASK_SECONDS if used and not _is_on_lost_engine(client, used[1]) else 0.0


def _is_on_lost_engine(client: Client, task: str) -> bool:
    """True if the manager knows that the engine of a container is down: it counts the container until that is back."""
    try:
        node = client.read(f"/tasks/{task}")["NodeID"]
        return bool(client.read(f"/nodes/{node}")["Status"]["State"] == "down")
    except EngineError as changed:
        if not changed.status:
            raise
        return False
