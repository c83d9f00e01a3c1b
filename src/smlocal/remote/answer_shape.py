"""Whether what is read of a description has the types that it should have: saved documents may be edited or damaged."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.errors import NotATrainingJobError

_NUMBER: Final = (int, float)
_SHAPE: Final[Mapping[str, Any]] = {
    "TrainingJobName": str,
    "TrainingJobStatus": str,
    "SecondaryStatus": str,
    "FailureReason": str,
    "TrainingTimeInSeconds": _NUMBER,
    "SecondaryStatusTransitions": [{"Status": str}],
    "FinalMetricDataList": [{"MetricName!": str, "Value!": _NUMBER}],
    "ModelArtifacts": {"S3ModelArtifacts": str},
    "Local": {
        "Image": str,
        "FailedHost": str,
        "Hosts": [{"Name!": str, "ExitCode!": int, "Log": str}],
        "Artifacts": {"Model": str, "Output": str},
        "Usage": {"Hosts": [{"Name!": str, "MemoryPeakMiB": _NUMBER, "CpuPeak": _NUMBER}]},
        "Request": {},
    },
}
"""Members that are read. With `!`, one that has to be there; null is as good as absent where a value is optional."""
_NULL_ALLOWED: Final = "ExitCode!"


def check_shape(answer: Mapping[str, Any], *, name: str) -> None:
    """`NotATrainingJobError` for a description with members that cannot be read. `name`: of the file or the job."""
    wrong = next(_wrong(answer, _SHAPE, ""), None)
    if wrong is not None:
        raise NotATrainingJobError(
            f"{name} is damaged: {wrong}", remedy=["Save the description again, or correct that member."]
        )


def _wrong(value: Any, shape: Any, path: str) -> Iterator[str]:
    if isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            yield f"{path} is no mapping"
            return
        for member, inner in shape.items():
            name = member.removesuffix("!")
            found = value.get(name)
            if found is not None:
                yield from _wrong(found, inner, f"{path}.{name}" if path else name)
            elif member != name and (name not in value or member != _NULL_ALLOWED):
                yield f"{path} has no {name}"
    elif isinstance(shape, list):
        if not isinstance(value, list | tuple):
            yield f"{path} is no list"
            return
        for index, item in enumerate(value):
            yield from _wrong(item, shape[0], f"{path}[{index}]")
    elif not isinstance(value, shape) or isinstance(value, bool):
        yield f"{path} has a value of another type"
