"""What is stored of an endpoint while it runs, and its status."""

import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import invocation_address
from smlocal.terms.statuses import JobPhase, JobStatus

HOSTING: Final = "hosting"
"""The kind of document."""
WEIGHTS: Final = "hosting_weights"
"""The kind of document with changed weights of variants, by name. The supervisor reads it when it is woken."""
_LATEST: Final = 20
"""Restarts that are kept; all are counted."""


@dataclass(kw_only=True, slots=True)
class State:
    """Where it is invoked, and what happened to its containers."""

    port: int = 0
    """0: it has not been in service."""
    key_file: str | None = None
    """The file with the header that the address demands; None: it demands none."""
    access: str = ""
    """Who can invoke it, in a sentence for its owner; empty if there is nothing to say."""
    former_port: int = 0
    """Where it was before another program took its port; 0: it has not moved."""
    in_service: float | None = None
    """Since when."""
    answers: float | None = None
    """When its present supervisor, or the last one, began to listen."""
    restarts: int = 0
    latest: list[dict[str, Any]] = field(default_factory=list)
    """The latest restarts: when, which container, and the exit code of the one before."""
    troubles: dict[str, str] = field(default_factory=dict)
    """Why the last ping was not answered, by host; only of those that did not answer."""
    logged: dict[str, int] = field(default_factory=dict)
    """Bytes of the log from containers before this one, by host."""
    counted: dict[str, str] = field(default_factory=dict)
    """The container of each host whose end is among the restarts. It is there until another takes its place."""

    @property
    def trouble(self) -> str | None:
        """Why a ping was not answered, in one line; None if all were."""
        return "; ".join(f"{host}: {why}" for host, why in sorted(self.troubles.items())) or None

    def restarted(self, host: str, exit_code: int) -> None:
        """A container has ended and is started again."""
        self.restarts += 1
        entry = {"At": round(time.time(), 3), "Host": host, "ExitCode": exit_code}
        self.latest = [*self.latest, entry][-_LATEST:]

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "Port": self.port,
            "KeyFile": self.key_file,
            "Access": self.access,
            "FormerPort": self.former_port,
            "InService": self.in_service,
            "Answers": self.answers,
            "RestartCount": self.restarts,
            "Restarts": self.latest,
            "PingTroubles": self.troubles,
            "Logged": self.logged,
            "Counted": self.counted,
        }


def read_state(document: Mapping[str, Any] | None) -> State:
    """From the stored document."""
    if document is None:
        return State()
    return State(
        port=document["Port"],
        key_file=document.get("KeyFile"),
        access=document.get("Access", ""),
        former_port=document.get("FormerPort", 0),
        in_service=document["InService"],
        answers=document.get("Answers"),
        restarts=document["RestartCount"],
        latest=list(document["Restarts"]),
        troubles=dict(document["PingTroubles"]),
        logged=dict(document["Logged"]),
        counted=dict(document.get("Counted", {})),
    )


def shown(document: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """Members of the `Local` block."""
    state = read_state(document)
    return {
        **({"Address": invocation_address(name, state.port), "KeyFile": state.key_file} if state.port else {}),
        **({"FormerAddress": invocation_address(name, state.former_port)} if state.former_port else {}),
        "RestartCount": state.restarts,
        "Restarts": state.latest,
        "PingTrouble": state.trouble,
    }


def status_word(record: JobRecord) -> str:
    """EndpointStatus; of an endpoint that was stopped, which the service would have deleted, `Stopped`."""
    if record.status is JobStatus.IN_PROGRESS:
        return "InService" if record.phase is JobPhase.TRAINING else "Creating"
    return "Deleting" if record.status is JobStatus.STOPPING else str(record.status)


def invocation_seconds(plan: Mapping[str, Any] | None) -> float:
    """For the answer of a container, by the stored document of a plan."""
    limits = (plan or {}).get("Serving") or {}
    return float(limits.get("InvocationSeconds", facts.INVOCATION_SECONDS))


def stream_seconds(plan: Mapping[str, Any] | None) -> float:
    """For the whole of a streamed answer, by the stored document of a plan."""
    limits = (plan or {}).get("Serving") or {}
    return max(invocation_seconds(plan), float(limits.get("StreamSeconds", facts.STREAM_SECONDS)))
