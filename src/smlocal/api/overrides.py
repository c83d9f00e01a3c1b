"""Overrides of a job file, or a job without one: from the flags of a command or the keywords of a call."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypedDict, cast, get_origin

from smlocal.api.job_files import kind_of
from smlocal.base.regex import regex
from smlocal.errors import ChannelUnknownError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import JobReading
from smlocal.jobfile.option import LOCAL, Form, Option, Values
from smlocal.jobfile.settings import OPTIONS, LocalSettings
from smlocal.jobs.kind import Kind
from smlocal.terms.model.structure import members, split
from smlocal.terms.validation.violation import Path as MemberPath
from smlocal.terms.validation.violation import closest

KEYWORD_ARGUMENTS: Final = "keyword arguments"
"""The words for overrides in messages if they are not flags."""
Path = str | os.PathLike[str]
_OUTPUT: Final = ("OutputDataConfig", "S3OutputPath")
_LIKENESS: Final = 0.75
"""`trian` and `training` are like `train`; `metadata` is another name than `data`."""
_STEP: Final = regex(r"([A-Za-z][A-Za-z0-9]*)((?:\[\d{1,4}\])*)")


class Overrides(TypedDict, total=False):
    """The keywords of `smlocal.run`, in the order of the flags: `jobfile.settings` has all about them.

    Paths are relative to the current directory. None means not given.
    """

    members: Mapping[str, Any] | None
    """Values by their paths in the job file: `{"ResourceConfig.InstanceCount": 2}`. The others override them."""
    image: str | None
    channels: Mapping[str, Path] | None
    """Name to folder, file or s3:// location."""
    inputs: Mapping[str, str] | None
    """Inputs of a processing job: `{"data": "./data:/opt/ml/processing/input"}`."""
    processing_outputs: Mapping[str, str] | None
    """Outputs of a processing job: `{"train": "/opt/ml/processing/train:./train"}`."""
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
    engines: Sequence[str] | None
    spread_over: Sequence[str] | None
    engine_instances: int | None
    """Addresses or Docker contexts; they replace those of the file."""
    host_network: bool
    """Run on the network of the engine's machine."""
    networks: Sequence[str] | None
    """Networks of the engine that the hosts join beside their own; they replace those of the file."""
    add_hosts: Mapping[str, str] | None
    """Addresses of further host names in the containers."""
    wait_for_debugger: bool
    """Have the Python program wait for a debugger on port 5678."""
    gpus: str | int | None
    allow_cpu: bool
    memory: str | int | None
    """Memory of each container: bytes, or such as `512m`."""
    enforce_limits: bool
    """Limit containers to the memory, processors and volume of the instance type."""
    processes_per_host: int | None
    """Processes of the training toolkit, for MPI, torchrun and data parallelism."""
    no_rules: bool
    """Do not evaluate debugger rules."""
    pull: Literal["missing", "always", "never"] | None
    keep: Literal["failed", "all", "none"] | None
    """Which ended jobs keep their containers and folders."""
    select: Sequence[str] | None
    """The only steps of a pipeline that run; results of the others are those of `source_execution`."""
    source_execution: str | None
    """An earlier execution of the pipeline: its ARN or the name of its job."""
    queue: str | None
    """The URL of the SQS queue that gets the messages of Callback steps."""


def apply_overrides(document: "Document", given: Overrides) -> None:
    """Change the document accordingly. What its kind has no use for is refused."""
    kind = kind_of(document.data)
    reading = kind.reads
    found, refused = _options(document, given, reading)
    for option, value in found:
        if option.keyword in reading.DATA:
            for name, text in value.items():
                reading.DATA[option.keyword](document, name, text, _absolute)
        elif option.keyword == "channels":
            for name, path in value.items():
                _apply_channel(document, name, _absolute(path))
        elif option.keyword == "output" and reading.OUTPUT and not _is_remote(_asked_output(document, reading.OUTPUT)):
            document.set(reading.OUTPUT, _absolute(value))  # it replaces a local path in the file
        else:
            _apply(document, option, value)
    _let_gpus_count(document, given)
    if refused:
        raise _refusal(document, refused, kind)


def apply_defaults(document: "Document", given: Overrides, *, origin: str) -> None:
    """Change the document where it says nothing itself; `origin` is what gave the defaults."""
    reading, kept = kind_of(document.data).reads, dict[str, Any]()
    for option, value in _options(document, given, reading)[0]:
        if option.form is not Form.MAP:
            if not _stated(document, option, reading):
                kept[option.keyword] = value
        elif option.keyword in reading.DATA:
            pass  # the file names all of its data
        elif option.keyword == "channels":
            named = channel_names(document)
            kept["channels"] = {name: path for name, path in value.items() if name not in named}
        else:
            kept[option.keyword] = {key: each for key, each in value.items() if not document.has(_place(option, key))}
    overrides, document.overrides = document.overrides, origin
    apply_overrides(document, cast("Overrides", kept))
    document.overrides = overrides


def fill(document: "Document") -> None:
    """Add what every request needs, for a job without a file."""
    needed = [(each.place, each.default) for each in OPTIONS.values() if each.default is not None]
    for place, value in (*needed, (_OUTPUT, os.path.abspath("smlocal-output"))):
        section = document.data.get(str(place[0])) or {}
        if isinstance(section, dict) and place[1] not in section:
            document.set(place, value)


def _options(
    document: "Document", given: Overrides, reading: JobReading
) -> tuple[list[tuple[Option, Any]], list[tuple[Option, str]]]:
    """Those that are given, with their places in such a document; and those without one, as they were spelled."""
    found, refused = list[tuple[Option, Any]](), list[tuple[Option, str]]()
    for option, value in _given(given):
        place = reading.place(option)
        if place is not None:
            found.append((option if place == option.place else replace(option, place=place), value))
        elif option.keyword != "name":  # some kinds have the name beside the document
            refused.append((option, option.keyword if document.overrides == KEYWORD_ARGUMENTS else option.flag))
    return found, refused


def _refusal(document: "Document", refused: list[tuple[Option, str]], kind: Kind) -> UsageRefusedError:
    """The error about options that a kind of job has no use for."""
    return UsageRefusedError(
        f"{document.name} is {kind.with_article}, which does not take {', '.join(spelled for _, spelled in refused)}",
        remedy=kind.reads.instead(document.data, refused),
    )


def _given(given: Overrides) -> Iterator[tuple[Option, Any]]:
    """The given overrides, members first: the others override them."""
    for keyword in Overrides.__annotations__:
        option, value = OPTIONS[keyword], given.get(keyword)
        if value if option.form in {Form.SWITCH, Form.MAP} else value is not None:
            yield option, value


def _apply(document: "Document", option: Option, value: Any) -> None:
    if option.form is Form.MAP:
        for key, each in value.items():
            written = _absolute(each) if option.values is Values.PATH else option.written(each)
            document.set(_place(option, key), written)
    elif option.form is Form.SWITCH:
        document.set(option.place, option.when_given)
    else:
        document.set(option.place, _absolute(value) if option.form is Form.PATH else option.written(value))


def _place(option: Option, key: str) -> "MemberPath":
    """The place of one value of a dict."""
    return (*option.place, key) if option.place else member_path(key)


def _stated(document: "Document", option: Option, reading: JobReading) -> bool:
    """True if the document itself says what this option would."""
    if option.keyword == "output" and reading.OUTPUT:
        uri = _asked_output(document, reading.OUTPUT)
        return document.has(option.place) or (uri is not None and not _is_remote(uri))
    return document.has(option.place)


def _let_gpus_count(document: "Document", given: Overrides) -> None:
    """A number of GPUs overrides AllowCpu of the file."""
    local = document.data.get(LOCAL)
    if given.get("gpus") is None or given.get("allow_cpu") or not isinstance(local, dict):
        return
    place = OPTIONS["allow_cpu"].place
    if place[-1] in local:
        document.set(place, False)


def _asked_output(document: "Document", place: "MemberPath") -> Any:
    asked = document.data.get(str(place[0]))
    return asked.get(place[1]) if isinstance(asked, dict) else None


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


def member_path(text: str) -> "MemberPath":
    """The place of a member from its path: `ResourceConfig.InstanceCount`, `InputDataConfig[0].InputMode`."""
    parent = next((each for each in _maps() if text.startswith(each) and text != each), None)
    if parent is not None:
        return (*parent.rstrip(".").split("."), text.removeprefix(parent))
    steps: list[str | int] = []
    for part in text.split("."):
        found = _STEP.fullmatch(part)
        if found is None:
            raise UsageRefusedError(
                f"{text!r} is not the path of a member",
                remedy=["Write it like ResourceConfig.InstanceCount or InputDataConfig[0].ShuffleConfig.Seed."],
            )
        steps += [found[1], *(int(index) for index in re.findall(r"\d+", found[2]))]
    return tuple(steps)


def _maps() -> Iterator[str]:
    """Maps whose keys are chosen by the user. The rest of a path is one key, which may have dots."""
    for option in OPTIONS.values():
        if option.form is Form.MAP and len(option.place) == 1 and option.keyword != "channels":
            yield f"{option.place[0]}."
    for name, member in members(LocalSettings).items():
        if get_origin(split(member.present)[0]) is dict:
            yield f"{LOCAL}.{name}."


def channel_names(document: "Document") -> list[str]:
    """The names of a request's channels, valid or not."""
    channels = document.data.get("InputDataConfig")
    found = [each.get("ChannelName") for each in (channels if isinstance(channels, list) else ()) if _is_map(each)]
    return [name for name in found if isinstance(name, str)]


def new_channels(document: "Document", given: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about the channels that `given` adds to a request with channels. A mistyped name is an error."""
    known = channel_names(document)
    for name in given if known else ():
        if name in known:
            continue
        near = _meant(name, known)
        if near is not None:
            raise ChannelUnknownError(
                f"{document.name} has no channel {name!r}",
                details=[f"Its channels: {', '.join(known)}"],
                remedy=[f"Did you mean {near}?", "If it is a new channel, write it into the request."],
            )
        yield f"channel {name} is added: {document.name} has {', '.join(known)}"


def new_hyperparameters(document: "Document", given: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about those that `given` adds beside one of almost the same name, which keeps its value."""
    written = document.data.get("HyperParameters")
    known = [name for name in written if isinstance(name, str)] if isinstance(written, dict) else []
    for name in given:
        near = None if name in known else _meant(name, known)
        if near is not None:
            yield f"hyperparameter {name} is new. Did you mean {near}, which is in {document.name}?"


def _meant(name: str, known: list[str]) -> str | None:
    """The name that was probably meant. Names that differ in their numbers are not mistakes: train-1 and train-2."""
    near = closest(name, known, likeness=_LIKENESS)
    return None if near is None or _without_numbers(near) == _without_numbers(name) else near


def _without_numbers(name: str) -> str:
    return re.sub(r"[-_.]?\d+", "", name)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)
