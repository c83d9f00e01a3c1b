"""What is stored of an endpoint while it runs."""

import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass

HOSTING: Final = "hosting"
"""The kind of document."""
WEIGHTS: Final = "hosting_weights"
"""The document with weights of variants that were changed, by variant."""
_LATEST: Final = 20
"""Restarts that are kept; all are counted."""


@dataclass(kw_only=True, slots=True)
class State:
    """Where it is invoked, and what happened to its container."""

    port: int = 0
    """0: it has not been in service."""
    in_service: float | None = None
    """Since when."""
    restarts: int = 0
    latest: list[dict[str, Any]] = field(default_factory=list)
    """The latest restarts: when, and the exit code of the container before."""
    trouble: str | None = None
    """Why the last ping was not answered; None if it was."""
    logged: dict[str, int] = field(default_factory=dict)
    """Bytes of the log from containers before this one, by host."""

    def restarted(self, exit_code: int) -> None:
        """The container has ended and is started again."""
        self.restarts += 1
        self.latest = [*self.latest, {"At": round(time.time(), 3), "ExitCode": exit_code}][-_LATEST:]

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "Port": self.port,
            "InService": self.in_service,
            "RestartCount": self.restarts,
            "Restarts": self.latest,
            "PingTrouble": self.trouble,
            "Logged": self.logged,
        }


def read_state(document: Mapping[str, Any] | None) -> State:
    """From the stored document."""
    if document is None:
        return State()
    return State(
        port=document["Port"],
        in_service=document["InService"],
        restarts=document["RestartCount"],
        latest=list(document["Restarts"]),
        trouble=document["PingTrouble"],
        logged=dict(document["Logged"]),
    )


def shown(document: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """Members of the `Local` block."""
    state = read_state(document)
    return {
        **({"Address": invocation_address(name, state.port)} if state.port else {}),
        "RestartCount": state.restarts,
        "Restarts": state.latest,
        "PingTrouble": state.trouble,
    }


def invocation_address(name: str, port: int) -> str:
    """Where the endpoint is invoked."""
    return f"http://127.0.0.1:{port}/endpoints/{name}/invocations"
