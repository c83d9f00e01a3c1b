"""Which kind of job a document describes, by its keys, and whether one of them is misspelt."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import invalid_request
from smlocal.terms.validation.violation import Violation, closest

TRAINING_INPUT: Final = "trainingInput"
JOB_SPEC: Final = "jobSpec"
WORKER_POOLS: Final = "workerPoolSpecs"
STATE: Final = "state"
_KIND_OF_KEY: Final = {
    TRAINING_INPUT: ReplicaJobKind.TRAINING_JOB,
    JOB_SPEC: ReplicaJobKind.CUSTOM_JOB,
    WORKER_POOLS: ReplicaJobKind.CUSTOM_JOB,
}


def camel(name: str) -> str:
    """`worker_pool_specs` to `workerPoolSpecs`: both spellings are accepted, as by the services."""
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others) if first else name


def is_answer(data: Mapping[str, Any]) -> bool:
    """True for what the service answers about a job; False for a request."""
    return STATE in data


def job_kind(request: Mapping[str, Any]) -> ReplicaJobKind:
    """The kind of the job in a valid request."""
    return next(iter(job_kinds(request)))


def job_kinds(data: Mapping[str, Any]) -> dict[ReplicaJobKind, str]:
    """The kinds of jobs that a document has keys of, and the first key of each. Empty for another platform's job."""
    found: dict[ReplicaJobKind, str] = {}
    for key in data:
        kind = _KIND_OF_KEY.get(camel(key))
        if kind is not None:
            found.setdefault(kind, key)
    return found


_LIKENESS = 0.75


def refuse_misspelt_key(document: Document) -> None:
    """Refuse a document with a key that is nearly one of this platform's. It has no key of another platform."""
    for key in document.data:
        meant = closest(camel(key), (TRAINING_INPUT, JOB_SPEC, WORKER_POOLS), likeness=_LIKENESS)
        if meant is not None:
            text = f"unknown key {key}: did you mean {meant}?"
            raise invalid_request(document, [Violation(path=(key,), text=text)])
