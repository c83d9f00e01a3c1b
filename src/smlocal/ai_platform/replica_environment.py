"""The variables of a replica. `TF_CONFIG` and `CLUSTER_SPEC` say its place in the cluster."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from smlocal.ai_platform.answer import snake_case, stored_form
from smlocal.ai_platform.identity import cloud_id, custom_job_number
from smlocal.ai_platform.locations import output_locations
from smlocal.ai_platform.model.members import JobKind
from smlocal.ai_platform.replicas import Replica

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


_OUTPUT: Final = {"AIP_MODEL_DIR": "model", "AIP_CHECKPOINT_DIR": "checkpoints", "AIP_TENSORBOARD_LOG_DIR": "logs"}
_REFERENCE: Final = re.compile(r"\$\$\((\w+)\)|\$\((\w+)\)")


def replica_variables(
    kind: JobKind, request: Mapping[str, Any], replica: Replica, replicas: Sequence[Replica], *, job: str
) -> dict[str, str]:
    """All variables of a replica: those of the service, then those of the request."""
    found = {"CLUSTER_SPEC": compact(cluster_spec(kind, request, replica, replicas))}
    if kind is JobKind.TRAINING_JOB or len(replicas) > 1:
        found["TF_CONFIG"] = compact(tf_config(kind, request, replica, replicas, job=job))
    if kind is JobKind.TRAINING_JOB:
        found |= {"CLOUD_ML_JOB_ID": job, "CLOUD_ML_JOB": compact(job_description(kind, request))}
    else:
        found["CLOUD_ML_JOB_ID"] = custom_job_number(job)
        for location in output_locations(kind, request):
            found |= {name: f"{location.rstrip('/')}/{folder}/" for name, folder in _OUTPUT.items()}
    return expanded(found, replica.variables)


def expanded(service: Mapping[str, str], given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The variables of the service and those of a request, in which `$(NAME)` stands for an earlier one.

    A name that is not known is left as it is, and `$$(NAME)` is `$(NAME)`.
    """
    found = dict(service)
    for name, value in given:
        found[name] = _REFERENCE.sub(lambda match: _meant(match, found), value)
    return found


def _meant(match: re.Match[str], found: Mapping[str, str]) -> str:
    if match[1] is not None:
        return f"$({match[1]})"
    return found.get(match[2], match[0])
