"""Names of sessions and `tf.estimator`, which TensorFlow has given up. The stand-in refuses it."""

from typing import Any, NoReturn

from ..exceptions import SMDDPUnsupportedError


def broadcast_global_variables(root_rank: int) -> "NoReturn":  # noqa: ARG001 - the library's
    """Variables of a graph of TensorFlow 1."""
    _refuse("broadcast_global_variables")


class BroadcastGlobalVariablesHook:
    """A hook of a session."""

    def __init__(self, root_rank: int, *more: Any) -> None:  # noqa: ARG002 - the library's
        _refuse("BroadcastGlobalVariablesHook")


def _refuse(name: str) -> "NoReturn":
    raise SMDDPUnsupportedError(
        f"{name} is for sessions and tf.estimator, which smlocal's stand-in for "
        "smdistributed.dataparallel.tensorflow does not support: use broadcast_variables"
    )
