"""Rules from the service's documentation that are not in the model, mostly between members."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from smlocal.terms.metrics import regex_problem
from smlocal.terms.validation.violation import Path, Violation, spoken
from smlocal.terms.validation.walk import MOST_VIOLATIONS, missing

_Found = Iterator[Violation]
_MOST_REGEXES = 40
_LONGEST_REGEX = 500
"""The longest regex of a metric, by the model.

A request with more, or with longer ones, is refused without compiling them.
"""
_MOST_NAMED = 20
_NOT_BESIDE = {
    "InstanceGroups": ("InstanceType", "InstanceCount", "InstancePreferences"),
    "InstancePreferences": ("InstanceType", "InstancePlacementConfig"),
}


def broken_rules(request: dict[str, Any], *, strict: bool) -> list[Violation]:
    """The violations of all rules, up to a limit. Parts of the wrong type are skipped; `walk` reports them."""
    found = list(islice((violation for rule in _RULES for violation in rule(request)), MOST_VIOLATIONS))
    if strict:
        found += [missing((name,)) for name in ("TrainingJobName", "RoleArn") if name not in request]
    return found


def _part(data: Any, *steps: str) -> dict[str, Any]:
    for step in steps:
        data = data.get(step) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _number(data: dict[str, Any], name: str) -> int | None:
    value = data.get(name)
    return value if type(value) is int else None


def _channels(request: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    channels = request.get("InputDataConfig")
    for index, channel in enumerate(channels if isinstance(channels, list) else ()):
        if isinstance(channel, dict):
            yield ("InputDataConfig", index), channel


def _groups(request: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    groups = _part(request, "ResourceConfig").get("InstanceGroups")
    for index, group in enumerate(groups if isinstance(groups, list) else ()):
        if isinstance(group, dict):
            yield ("ResourceConfig", "InstanceGroups", index), group


def _mode(request: dict[str, Any], channel: dict[str, Any]) -> Any:
    return channel.get("InputMode") or _part(request, "AlgorithmSpecification").get("TrainingInputMode")


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")


def _sections(request: dict[str, Any]) -> _Found:
    """The model allows that both are missing, for serverless jobs; other jobs need them."""
    if "ServerlessJobConfig" in request:
        return
    for name in ("AlgorithmSpecification", "ResourceConfig"):
        if name not in request:
            yield missing((name,))


def _algorithm(request: dict[str, Any]) -> _Found:
    specification = _part(request, "AlgorithmSpecification")
    if not specification:
        return
    named = [name for name in ("TrainingImage", "AlgorithmName") if specification.get(name)]
    path = ("AlgorithmSpecification",)
    if not named:
        yield _says(path, "TrainingImage (or AlgorithmName) is required")
    elif len(named) > 1:
        yield _says((*path, "AlgorithmName"), "give TrainingImage or AlgorithmName, not both")


def _metrics(request: dict[str, Any]) -> _Found:
    definitions = _part(request, "AlgorithmSpecification").get("MetricDefinitions")
    for index, each in enumerate(definitions[:_MOST_REGEXES] if isinstance(definitions, list) else ()):
        regex = each.get("Regex") if isinstance(each, dict) else None
        trouble = regex_problem(regex) if isinstance(regex, str) and len(regex) <= _LONGEST_REGEX else None
        if trouble is not None:
            yield _says(("AlgorithmSpecification", "MetricDefinitions", index, "Regex"), trouble)


def _instances(request: dict[str, Any]) -> _Found:
    resources = request.get("ResourceConfig")
    if not isinstance(resources, dict):
        return
    path = ("ResourceConfig",)
    instead = next((name for name in ("InstanceGroups", "InstancePreferences") if resources.get(name)), None)
    if instead is None:
        yield from (missing((*path, name)) for name in ("InstanceType", "InstanceCount") if name not in resources)
        if _number(resources, "InstanceCount") == 0:
            yield _says((*path, "InstanceCount"), "must be at least 1")
        return
    for name in _NOT_BESIDE[instead]:
        if name in resources:
            yield _says((*path, name), f"cannot be used with {instead}")


def _warm_pool(request: dict[str, Any]) -> _Found:
    resources = _part(request, "ResourceConfig")
    path: Path = ("ResourceConfig", "KeepAlivePeriodInSeconds")
    if not _number(resources, "KeepAlivePeriodInSeconds"):
        return
    if request.get("EnableManagedSpotTraining") is True:
        yield _says(path, "warm pools cannot be used with spot instances (EnableManagedSpotTraining)")
    if resources.get("InstanceGroups"):
        yield _says(path, "warm pools cannot be used with a heterogeneous cluster (InstanceGroups)")


def _preferences(request: dict[str, Any]) -> _Found:
    resources = _part(request, "ResourceConfig")
    given = resources.get("InstancePreferences")
    preferences = given if isinstance(given, list) else []
    each = [(index, item) for index, item in enumerate(preferences) if isinstance(item, dict)]
    if not each:
        return
    path: Path = ("ResourceConfig", "InstancePreferences")
    if request.get("EnableManagedSpotTraining") is True:
        yield _says(path, "cannot be used with EnableManagedSpotTraining")
    known: set[str] = set()
    for index, item in each:
        kind = item.get("InstanceType")
        if isinstance(kind, str) and kind in known:
            yield _says((*path, index, "InstanceType"), f"'{kind}' is in the list twice")
        known.update([kind] if isinstance(kind, str) else [])
        if _number(item, "InstanceCount") == 0:
            yield _says((*path, index, "InstanceCount"), "must be at least 1")
        if item.get("TrainingPlanArns") and "TrainingPlanArn" in resources:
            yield _says((*path, index, "TrainingPlanArns"), "cannot be used with ResourceConfig.TrainingPlanArn")
    yield from _counts(path, each, resources)


def _counts(path: Path, each: list[tuple[int, dict[str, Any]]], resources: dict[str, Any]) -> _Found:
    """Every preference has a count, or the job has one."""
    counted = [index for index, item in each if "InstanceCount" in item]
    if "InstanceCount" in resources:
        if counted:
            text = "give it in ResourceConfig or in every preference, not in both"
            yield _says((*path, counted[0], "InstanceCount"), text)
        elif _number(resources, "InstanceCount") == 0:
            yield _says(("ResourceConfig", "InstanceCount"), "must be at least 1")
    elif len(counted) < len(each):
        text = "is required in every preference, or in ResourceConfig instead"
        first = next(index for index, _ in each if index not in counted)
        yield _says((*path, first, "InstanceCount"), text)


def _instance_groups(request: dict[str, Any]) -> _Found:
    known: dict[str, Path] = {}
    for path, group in _groups(request):
        name = group.get("InstanceGroupName")
        if not isinstance(name, str):
            continue
        if name in known:
            yield _says((*path, "InstanceGroupName"), f"'{name}' is already the name of {spoken(known[name])}")
        known.setdefault(name, path)
        if _number(group, "InstanceCount") == 0:
            yield _says((*path, "InstanceCount"), "must be at least 1")
    for path, channel in _channels(request):
        names = _part(channel, "DataSource", "S3DataSource").get("InstanceGroupNames")
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and name not in known:
                place = (*path, "DataSource", "S3DataSource", "InstanceGroupNames", index)
                there = (
                    f"there are {', '.join(islice(known, _MOST_NAMED))}" if known else "the job has no InstanceGroups"
                )
                yield _says(place, f"no instance group is called '{name}': {there}")


def _channel_names(request: dict[str, Any]) -> _Found:
    first: dict[str, Path] = {}
    for path, channel in _channels(request):
        name = channel.get("ChannelName")
        if not isinstance(name, str):
            continue
        if name in {".", ".."}:
            yield _says((*path, "ChannelName"), f"'{name}' cannot be the name of the channel's folder")
        elif name in first:
            yield _says((*path, "ChannelName"), f"'{name}' is already the name of {spoken(first[name])}")
        first.setdefault(name, path)


def _manifest_names(request: dict[str, Any]) -> _Found:
    """The manifest of a File mode channel is next to its folder, so no other channel can have that name."""
    written: dict[str, str] = {}
    if _part(request, "CheckpointConfig"):
        written["checkpoints-manifest"] = "the checkpoints"
    for path, channel in _channels(request):
        if isinstance(channel.get("ChannelName"), str) and _mode(request, channel) in (None, "File"):
            written.setdefault(f"{channel['ChannelName']}-manifest", spoken(path))
    for path, channel in _channels(request):
        name = channel.get("ChannelName")
        place = (*path, "ChannelName")
        if name == "checkpoints" and "CheckpointConfig" in request:
            yield _says(place, "'checkpoints' is reserved for the service when CheckpointConfig is given")
        elif isinstance(name, str) and name in written:
            yield _says(place, f"'{name}' is the name of the manifest of {written[name]}")


def _pipe_names(request: dict[str, Any]) -> _Found:
    """The FIFOs of a Pipe channel `a` are `a_0`, `a_1` and so on."""
    named = [
        (path, channel["ChannelName"], _mode(request, channel))
        for path, channel in _channels(request)
        if isinstance(channel.get("ChannelName"), str)
    ]
    pipes = {name: path for path, name, mode in named if mode == "Pipe"}
    for path, name, _ in named:
        stem, _, epoch = name.rpartition("_")
        if stem in pipes and epoch.isascii() and epoch.isdigit():
            yield _says((*path, "ChannelName"), f"'{name}' is the name of a FIFO of the Pipe channel '{stem}'")


def _nul(request: dict[str, Any]) -> _Found:
    """Environment variables and arguments cannot contain NUL."""
    for name in ("HyperParameters", "Environment"):
        for key, value in _part(request, name).items():
            if "\0" in key or (isinstance(value, str) and "\0" in value):
                yield _says((name, key), "contains a NUL character, which cannot be passed to the container")
    specification = _part(request, "AlgorithmSpecification")
    for name in ("ContainerEntrypoint", "ContainerArguments"):
        words = specification.get(name)
        for index, word in enumerate(words if isinstance(words, list) else ()):
            if isinstance(word, str) and "\0" in word:
                place = ("AlgorithmSpecification", name, index)
                yield _says(place, "contains a NUL character, which cannot be passed to the container")


def _data_sources(request: dict[str, Any]) -> _Found:
    for path, channel in _channels(request):
        source = channel.get("DataSource")
        if not isinstance(source, dict):
            continue
        kinds = [kind for kind in ("S3DataSource", "FileSystemDataSource", "DatasetSource") if kind in source]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none"
            sources = "S3DataSource, FileSystemDataSource, DatasetSource"
            yield _says((*path, "DataSource"), f"give exactly one of {sources}; found {found}")
        if "FileSystemDataSource" in source and _mode(request, channel) in ("Pipe", "FastFile"):
            yield _says(path, "a file system can be read in File mode only")


def _data_types(request: dict[str, Any]) -> _Found:
    for path, channel in _channels(request):
        mode = _mode(request, channel)
        inner = (*path, "DataSource", "S3DataSource", "S3DataType")
        data_type = _part(channel, "DataSource", "S3DataSource").get("S3DataType")
        if data_type == "AugmentedManifestFile" and mode in ("File", "FastFile"):
            yield _says(
                inner, f"AugmentedManifestFile can only be used in Pipe mode, and this channel's mode is {mode}"
            )
        if data_type == "ManifestFile" and mode == "FastFile":
            yield _says(inner, "ManifestFile cannot be used in FastFile mode")
        for member, value in (("CompressionType", "Gzip"), ("RecordWrapperType", "RecordIO")):
            if channel.get(member) == value and mode in ("File", "FastFile"):
                yield _says((*path, member), f"{value} is for Pipe mode only, and this channel's mode is {mode}")
        names = _part(channel, "DataSource", "S3DataSource").get("AttributeNames")
        place = (*path, "DataSource", "S3DataSource", "AttributeNames")
        if data_type == "AugmentedManifestFile" and not names:
            yield _says(place, "an augmented manifest requires the names of the attributes to send")
        elif names and data_type != "AugmentedManifestFile":
            yield _says(place, "is for an AugmentedManifestFile only")


def _waiting(request: dict[str, Any]) -> _Found:
    condition = _part(request, "StoppingCondition")
    wait, run = _number(condition, "MaxWaitTimeInSeconds"), _number(condition, "MaxRuntimeInSeconds")
    path = ("StoppingCondition", "MaxWaitTimeInSeconds")
    if wait is None:
        return
    if request.get("EnableManagedSpotTraining") is not True:
        yield _says(path, "is for managed spot training only (EnableManagedSpotTraining: true)")
    if run is not None and wait < run:
        yield _says(path, f"{wait} is less than MaxRuntimeInSeconds, {run}; it must be equal or greater")


def _tags(request: dict[str, Any]) -> _Found:
    tags = request.get("Tags")
    keys = [tag.get("Key") for tag in tags if isinstance(tag, dict)] if isinstance(tags, list) else []
    texts = {index: key for index, key in enumerate(keys) if isinstance(key, str)}
    last = {key: index for index, key in texts.items()}
    repeated = {key for key, number in Counter(texts.values()).items() if number > 1}
    for key in sorted(repeated):
        yield _says(("Tags", last[key], "Key"), f"'{key}' is already the key of another tag")


_RULES: tuple[Callable[[dict[str, Any]], _Found], ...] = (
    _sections,
    _algorithm,
    _metrics,
    _instances,
    _preferences,
    _warm_pool,
    _instance_groups,
    _channel_names,
    _manifest_names,
    _pipe_names,
    _nul,
    _data_sources,
    _data_types,
    _waiting,
    _tags,
)
