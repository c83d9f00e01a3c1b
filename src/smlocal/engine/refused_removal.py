"""When an engine refuses to remove a resource: whether that is fine, and how long to try again."""

from smlocal.errors import EngineError

_CONFLICT = 409
_SOMEBODY_SECONDS = 60.0
"""How long somebody else may need to remove it."""
_TASK_SECONDS = 10.0
"""How long the manager of a swarm may count containers that another engine has removed."""


def is_no_manager(error: EngineError) -> bool:
    """True of a network on a worker, which forgets it with its last container. It is removed on a manager."""
    return "not a swarm manager" in error.sentence


def seconds_to_wait(error: EngineError) -> float:
    """For how long the removal is worth trying again."""
    if error.status == _CONFLICT and "in progress" in error.sentence:
        return _SOMEBODY_SECONDS
    return _TASK_SECONDS if "is in use by task" in error.sentence else 0.0
