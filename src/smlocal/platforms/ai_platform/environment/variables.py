"""The environment variables of a replica."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from smlocal.platforms.ai_platform.environment.cluster import cluster_spec, compact, job_description, tf_config
from smlocal.platforms.ai_platform.identity import custom_job_number
from smlocal.platforms.ai_platform.locations import output_locations
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.replicas import Replica

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
