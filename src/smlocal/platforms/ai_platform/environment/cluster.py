"""`TF_CONFIG` and `CLUSTER_SPEC`: what a replica reads about the cluster and its own place in it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from smlocal.platforms.ai_platform.identity import cloud_id
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.model.stored_form import snake_case, stored_form
from smlocal.platforms.ai_platform.replicas import Replica

_TASKS: Final = {
    "workerpool0": "chief",
    "workerpool1": "worker",
    "workerpool2": "ps",
    "workerpool3": "evaluator",
}
"""What TensorFlow calls the replicas of a custom job; those of AI Platform Training have its names."""
_EVALUATOR: Final = "evaluator"
_OPEN_PORTS: Final = [3333]
_NO_PACKAGE: Final = '{"python_module":"","package_uris":[],"job_args":[]}'
"""`job` of a custom job whose pools have images. The documentation says that it is the whole specification, but what
replicas have printed is this text."""


def cluster_spec(
    kind: JobKind, request: Mapping[str, Any], replica: Replica, replicas: Sequence[Replica]
) -> dict[str, Any]:
    """The value of CLUSTER_SPEC."""
    spec = {
        "cluster": _addresses((each.group, each) for each in replicas),
        "environment": "cloud",
        "task": {"type": replica.group, "index": replica.index},
        "job": job_description(kind, request),
    }
    return spec if kind is JobKind.TRAINING_JOB else {**spec, "open_ports": _OPEN_PORTS}


def tf_config(
    kind: JobKind, request: Mapping[str, Any], replica: Replica, replicas: Sequence[Replica], *, job: str
) -> dict[str, Any]:
    """The value of TF_CONFIG. Evaluators are not part of the cluster."""
    is_chief = kind is JobKind.CUSTOM_JOB or bool(request["trainingInput"].get("useChiefInTfConfig"))
    tasks = ((_task(each, is_chief=is_chief), each) for each in replicas)
    return {
        "cluster": _addresses((task, each) for task, each in tasks if task != _EVALUATOR),
        "environment": "cloud",
        "job": job_description(kind, request),
        "task": {"cloud": cloud_id(job), "index": replica.index, "type": _task(replica, is_chief=is_chief)},
    }


def job_description(kind: JobKind, request: Mapping[str, Any]) -> dict[str, Any] | str:
    """`job` in both variables."""
    if kind is JobKind.CUSTOM_JOB:
        return _NO_PACKAGE
    stored = snake_case(stored_form(kind, "TrainingInput", request["trainingInput"]))
    return {**stored, "run_on_raw_vm": True}


def compact(value: Any) -> str:
    """JSON on one line, as the services write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _task(replica: Replica, *, is_chief: bool) -> str:
    if replica.group == "master":
        return "chief" if is_chief else "master"
    return _TASKS.get(replica.group, replica.group)


def _addresses(replicas: Iterable[tuple[str, Replica]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, replica in replicas:
        found.setdefault(name, []).append(replica.address)
    return found
