"""A request as its members by path, so that two can be laid side by side."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

IMAGE = "AlgorithmSpecification.TrainingImage"
ENVIRONMENT = "Environment."
_CHOSEN = (ENVIRONMENT, "HyperParameters.")
"""Maps of the user, in which an empty text is a value."""
_OWN = ("TrainingJobName",)
"""Different for any two jobs."""
_KEYS = ("ChannelName", "Name", "Key", "RuleConfigurationName", "InstanceGroupName", "name")
"""What names an element of a list."""


_DEFAULTS: Mapping[str, Any] = {
    "InputDataConfig[].CompressionType": "None",
    "InputDataConfig[].RecordWrapperType": "None",
    "InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType": "FullyReplicated",
    "OutputDataConfig.CompressionType": "GZIP",
    "ResourceConfig.VolumeSizeInGB": 0,
    "StoppingCondition.MaxRuntimeInSeconds": 86_400,
}
"""What an answer may add to the request: the same as nothing."""
_NO_DEFAULT = object()
_NOTHING: tuple[Any, ...] = (False, "", None, [], {}, ())


def request_members(request: Mapping[str, Any]) -> dict[str, Any]:
    """Path to value, such as `InputDataConfig[train].InputMode`, without what is as if it were not there."""
    return {
        path: value
        for path, value in _leaves(request, "")
        if path not in _OWN
        and (path.startswith(_CHOSEN) or value not in _NOTHING)
        and value != _DEFAULTS.get(re.sub(r"\[[^]]*\]", "[]", path), _NO_DEFAULT)
    }


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        for name, item in zip(_names(value), value, strict=True):
            yield from _leaves(item, f"{path}[{name}]")
    else:
        yield path, value


def _names(items: Sequence[Any]) -> list[str]:
    """Of the elements of a list: what names them if that is different for all, else their positions."""
    for key in _KEYS:
        names = [str(item[key]) for item in items if isinstance(item, Mapping) and key in item]
        if len(names) == len(items) == len({*names}):
            return names
    return [str(index) for index in range(len(items))]
