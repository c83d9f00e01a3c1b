"""The members of the two kinds of jobs, read from the words of the generated modules.

`required list of WorkerPoolSpec`: `required` or `output` (set by the service) comes first, then `list of` or `map of`,
then a structure, a simple type, or `enum` and its values.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.ai_platform.model import custom_job, training_job
else:
    custom_job = at_use("smlocal.ai_platform.model.custom_job")
    training_job = at_use("smlocal.ai_platform.model.training_job")


class ReplicaJobKind(StrEnum):
    """The two kinds of jobs; the value is the structure of the whole job."""

    TRAINING_JOB = "Job"
    """A job of AI Platform Training, `ml.v1`."""
    CUSTOM_JOB = "CustomJob"
    """A job of its successor, `aiplatform.v1`."""

    @property
    def spoken(self) -> str:
        """The name of the kind in messages."""
        return "job of AI Platform Training" if self is ReplicaJobKind.TRAINING_JOB else "custom job"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelMember:
    """One member of a structure."""

    type: str
    """A simple type (`string`, `int64`, `enum`, …) or the name of a structure; of a list or map, its elements'."""
    many: Literal["", "list", "map"] = ""
    values: tuple[str, ...] = ()
    """The values of an enumeration."""
    required: bool = False
    required_when_strict: bool = False
    """The service requires it; this machine does not."""
    output: bool = False
    """Set by the service."""


_KNOWN: Final[dict[tuple[ReplicaJobKind, str], dict[str, ModelMember]]] = {}


def structures(kind: ReplicaJobKind) -> Mapping[str, Mapping[str, str]]:
    """The generated data of a kind of job."""
    if kind is ReplicaJobKind.TRAINING_JOB:
        return training_job.STRUCTURES
    return custom_job.STRUCTURES


def is_structure(kind: ReplicaJobKind, type_name: str) -> bool:
    """False for simple types."""
    return type_name in structures(kind)


def members(kind: ReplicaJobKind, structure: str) -> Mapping[str, ModelMember]:
    """The members of a structure, in the service's order."""
    key = (kind, structure)
    if key not in _KNOWN:
        words = structures(kind)[structure]
        _KNOWN[key] = {name: _member(f"{structure}.{name}", text) for name, text in words.items()}
    return _KNOWN[key]


def _member(place: str, text: str) -> ModelMember:
    words = text.split(" ")
    marked = words.pop(0) if words[0] in {"required", "output"} else ""
    many: Literal["", "list", "map"] = ""
    if words[0] in {"list", "map"}:
        many = "list" if words[0] == "list" else "map"
        del words[:2]
    return ModelMember(
        type=words[0],
        many=many,
        values=tuple(words[1:]) if words[0] == "enum" else (),
        required=marked == "required" and place not in OPTIONAL_HERE and place not in OPTIONAL_THERE,
        required_when_strict=marked == "required" and place in OPTIONAL_HERE,
        output=marked == "output",
    )


OPTIONAL_HERE: Final = {
    "Job.jobId": "The name of the file and the time are the default.",
    "CustomJob.displayName": "The name of the file and the time are the default.",
    "TrainingInput.region": "Jobs run on this machine.",
}
"""Required with `strict`, as on the service."""

OPTIONAL_THERE: Final = {
    "TrainingInput.packageUris": "Jobs with an image of their own have none.",
    "TrainingInput.pythonModule": "Jobs with an image of their own have none.",
    "TrainingInput.scaleTier": "The first value of the enumeration, BASIC, is meant when it is left out.",
}
"""Optional on the service too."""
