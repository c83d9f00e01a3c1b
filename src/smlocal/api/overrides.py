"""Overrides of a job file, or a job without one: from the flags of a command or the keywords of a call."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document

DEFAULT_INSTANCE_TYPE = "ml.m5.large"
Path = str | os.PathLike[str]


class Overrides(TypedDict, total=False):
    """Paths are relative to the current directory. None means not given."""

    image: str | None
    channels: Mapping[str, Path] | None
    """Name to folder, file or s3:// location."""
    hyperparameters: Mapping[str, str | float | bool] | None
    """Numbers and booleans become strings by `str`: the service takes strings only."""
    environment: Mapping[str, str] | None
    output: Path | None
    """Folder for artifacts: the model goes to `OUTPUT/NAME/output/model.tar.gz`."""
    name: str | None
    input_mode: Literal["File", "Pipe", "FastFile"] | None
    instance_type: str | None
    instance_count: int | None
    max_run: int | None
    """Seconds."""
    role: str | None
    credentials: Literal["none", "inherit", "role"] | None
    sources: Mapping[str, Path] | None
    """The folders that are read in place of s3:// prefixes."""
    code: Path | None
    """The folder for /opt/ml/code."""
    entrypoint: Sequence[str] | None
    """The program that is started in place of the image's ENTRYPOINT, and its first arguments."""
    staging: Literal["overlay", "copy"] | None
    publish: bool
    """Upload artifacts and mirror checkpoints to their s3:// locations."""
    no_rules: bool
    """Do not evaluate debugger rules."""
    gpus: str | int | None
    allow_cpu: bool
    memory: str | int | None
    """Of each container: bytes, or such as `512m`."""
    enforce_limits: bool
    """Limit containers to the memory, processors and volume of the instance type."""
    processes_per_host: int | None
    """Of the training toolkit, for MPI, torchrun and data parallelism."""
    pull: Literal["missing", "always", "never"] | None
    keep: Literal["failed", "all", "none"] | None
    """Which ended jobs keep their containers and folders."""
    engines: Sequence[str] | None
    """Addresses or Docker contexts; they replace those of the file."""
    members: Mapping[str, Any] | None
    """Values by their paths in the job file: `{"ResourceConfig.InstanceCount": 2}`. The others override them."""


_PLACES: Mapping[str, tuple[str, ...]] = {
    "image": ("AlgorithmSpecification", "TrainingImage"),
    "entrypoint": ("AlgorithmSpecification", "ContainerEntrypoint"),
    "name": ("TrainingJobName",),
    "input_mode": ("AlgorithmSpecification", "TrainingInputMode"),
    "instance_type": ("ResourceConfig", "InstanceType"),
    "instance_count": ("ResourceConfig", "InstanceCount"),
    "max_run": ("StoppingCondition", "MaxRuntimeInSeconds"),
    "role": ("RoleArn",),
    "credentials": ("Local", "Credentials"),
    "staging": ("Local", "Staging"),
    "pull": ("Local", "Pull"),
    "keep": ("Local", "Keep"),
    "engines": ("Local", "Engines"),
    "memory": ("Local", "Memory"),
}
_SWITCHES: Mapping[str, tuple[str, ...]] = {
    "allow_cpu": ("Local", "AllowCpu"),
    "enforce_limits": ("Local", "EnforceInstanceLimits"),
    "no_rules": ("Local", "Rules"),
    "publish": ("Local", "Publish"),
}


_PROCESSES = ("HyperParameters", "sagemaker_mpi_num_of_processes_per_host")
"""The toolkit reads it for every launcher."""
_MAPS: Mapping[str, tuple[str, ...]] = {
    "hyperparameters": ("HyperParameters",),
    "environment": ("Environment",),
    "sources": ("Local", "Sources"),
}


def apply_overrides(document: "Document", given: Overrides) -> None:
    """Change the document accordingly."""
    _apply_members(document, given)
    for option, place in _PLACES.items():
        value = given.get(option)
        if value is not None:
            document.set(place, list(value) if isinstance(value, tuple) else value)
    for option, place in _SWITCHES.items():
        if given.get(option):
            document.set(place, not option.startswith("no_"))
    _apply_gpus(document, given)
    _apply_folders(document, given)
    for key, value in (given.get("hyperparameters") or {}).items():
        document.set(("HyperParameters", key), str(value))
    if given.get("processes_per_host") is not None:
        document.set(_PROCESSES, str(given["processes_per_host"]))
    for key, value in (given.get("environment") or {}).items():
        document.set(("Environment", key), value)
    for prefix, folder in (given.get("sources") or {}).items():
        document.set(("Local", "Sources", prefix), _absolute(folder))
    for name, path in (given.get("channels") or {}).items():
        _apply_channel(document, name, _absolute(path))


def apply_defaults(document: "Document", given: Overrides, *, origin: str) -> None:
    """Change the document where it says nothing itself; `origin` is what gave the defaults."""
    kept: Any = {option: value for option, value in given.items() if not _stated(document, option)}
    for option, place in _MAPS.items():
        if option in kept:
            kept[option] = {key: value for key, value in kept[option].items() if not document.has((*place, key))}
    from smlocal.api.channel_names import channel_names

    named = channel_names(document)
    kept["channels"] = {name: path for name, path in (given.get("channels") or {}).items() if name not in named}
    if kept.get("members"):
        from smlocal.api.member_paths import member_path

        kept["members"] = {
            path: value for path, value in kept["members"].items() if not document.has(member_path(path))
        }
    overrides, document.overrides = document.overrides, origin
    apply_overrides(document, kept)
    document.overrides = overrides


def _stated(document: "Document", option: str) -> bool:
    """True if the document itself says what this option would."""
    if option == "output":
        asked = document.data.get("OutputDataConfig")
        uri = asked.get("S3OutputPath") if isinstance(asked, dict) else None
        return document.has(("Local", "Output")) or (uri is not None and not _is_remote(uri))
    place = {
        **_PLACES,
        **_SWITCHES,
        "gpus": ("Local", "Gpus"),
        "code": ("Local", "Code"),
        "processes_per_host": _PROCESSES,
    }.get(option)
    return place is not None and document.has(place)


def fill(document: "Document") -> None:
    """Add what every request needs, for a job without a file."""
    for place, value in (
        (("AlgorithmSpecification", "TrainingInputMode"), "File"),
        (("ResourceConfig", "InstanceType"), DEFAULT_INSTANCE_TYPE),
        (("ResourceConfig", "InstanceCount"), 1),
        (("OutputDataConfig", "S3OutputPath"), os.path.abspath("smlocal-output")),
    ):
        section = document.data.get(place[0]) or {}
        if place[1] not in section:
            document.set(place, value)


def _apply_members(document: "Document", given: Overrides) -> None:
    members = given.get("members")
    if members:
        from smlocal.api.member_paths import set_members  # few jobs are changed so

        set_members(document, members)


def _apply_gpus(document: "Document", given: Overrides) -> None:
    """A number of GPUs overrides AllowCpu of the file."""
    gpus = given.get("gpus")
    if gpus is None:
        return
    from smlocal.contract.gpus import read_gpus

    document.set(("Local", "Gpus"), read_gpus(gpus) if isinstance(gpus, str) else gpus)
    local = document.data.get("Local")
    if not given.get("allow_cpu") and isinstance(local, dict) and "AllowCpu" in local:
        document.set(("Local", "AllowCpu"), False)


def _apply_folders(document: "Document", given: Overrides) -> None:
    code, output = given.get("code"), given.get("output")
    if code is not None:
        document.set(("Local", "Code"), _absolute(code))
    if output is not None:
        _apply_output(document, _absolute(output))


def _apply_output(document: "Document", output: str) -> None:
    """An output folder replaces a local path in the file. For an s3:// URI it becomes Local.Output."""
    asked = document.data.get("OutputDataConfig")
    uri = asked.get("S3OutputPath") if isinstance(asked, dict) else None
    document.set(("Local", "Output") if _is_remote(uri) else ("OutputDataConfig", "S3OutputPath"), output)


def _is_remote(uri: Any) -> bool:
    return isinstance(uri, str) and uri.startswith(("s3://", "https://"))


def _apply_channel(document: "Document", name: str, path: str) -> None:
    channels: Any = document.data.get("InputDataConfig")
    if not isinstance(channels, list):
        channels = []
        document.set(("InputDataConfig",), channels)
    index = next(
        (i for i, c in enumerate(channels) if isinstance(c, dict) and c.get("ChannelName") == name), len(channels)
    )
    if index == len(channels):
        channels.append({"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix"}}})
    document.set(("InputDataConfig", index, "DataSource", "S3DataSource", "S3Uri"), path)


def _absolute(given: Path) -> str:
    """The path from the current directory. A blank path is not changed: it is refused as in a file."""
    path = os.fspath(given)
    return path if not path.strip() or "://" in path else os.path.abspath(path)
