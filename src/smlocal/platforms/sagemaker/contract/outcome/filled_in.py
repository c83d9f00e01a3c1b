"""What the service fills in where a request says nothing, as DescribeTrainingJob shows it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

PROFILING_INTERVAL = 500


def completed(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """These members of an answer in their order, with what the service fills in. `given`: those of the request."""
    found = {name: _FILL[name](given) if name in _FILL else given.get(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _with(name: str, usual: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Fills in members of a structure that the request has."""
    return lambda given: None if name not in given else _members(given[name], usual)


def _members(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in given.items() if value is not None}
    return {**said, **{name: value for name, value in usual.items() if name not in said}}


def _channels(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All channels; an empty list without any."""
    usual = {"CompressionType": "None", "RecordWrapperType": "None"}
    return [_members(channel, usual) for channel in given.get("InputDataConfig") or ()]


def _profiler(given: Mapping[str, Any]) -> Any:
    if not _profiles(given):
        return given.get("ProfilerConfig")
    return _members(given["ProfilerConfig"], {"ProfilingIntervalInMilliseconds": PROFILING_INTERVAL})


def _profiles(given: Mapping[str, Any]) -> bool:
    config = given.get("ProfilerConfig")
    return config is not None and not config.get("DisableProfiler")


_FILL: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "AlgorithmSpecification": _with("AlgorithmSpecification", {"EnableSageMakerMetricsTimeSeries": False}),
    "InputDataConfig": _channels,
    "OutputDataConfig": _with("OutputDataConfig", {"KmsKeyId": "", "CompressionType": "GZIP"}),
    # Clients read the size. What the service fills in is not known; 0 is our choice.
    "ResourceConfig": _with("ResourceConfig", {"VolumeSizeInGB": 0}),
    "ProfilerConfig": _profiler,
    "ProfilingStatus": lambda given: "Enabled" if _profiles(given) else "Disabled",
}
