"""Parts of a job of the service that this machine may lack, and the line that helps."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.local_path import longest_match
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.instance_types import instance_type, is_this_machine
from smlocal.sagemaker.kinds import request_reading
from smlocal.service.job_kind import inputs_in, kind_of, map_at, places_of
from smlocal.terms.model.structure import members
from smlocal.terms.validation.violation import Path

_ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/")
_SUBMIT_DIRECTORY = "sagemaker_submit_directory"
_CHECKPOINTS = "./checkpoints"
_NOT_IN_FOLDERS = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Unavailable:
    """One thing of a request."""

    path: Path
    """The member."""
    text: str
    """The difference here, as a sentence without its full stop."""
    local: Mapping[str, Any] = field(default_factory=dict)
    """The members of the `Local` block that help."""
    option: str = ""
    """The option of `smlocal run` that helps."""
    words: tuple[str, ...] = ()
    """The same with a place in it: words of a command that can be run as they are."""

    @property
    def line(self) -> str:
        """The text of the line."""
        return f"{self.text}{f': {self.option}' if self.option else ''}"


def lines_about(found: Iterable[Unavailable]) -> list[str]:
    """The lines about several, each once: two keys, or two groups of instances, are often alike."""
    return list(dict.fromkeys(each.line for each in found))


def unavailable_here(request: Mapping[str, Any], local: Mapping[str, Any]) -> list[Unavailable]:
    """Everything that the `Local` block does not settle already, in the order of the request."""
    found = [
        *(() if local.get("Pull") == "never" else _image(request)),
        *(() if local.get("Code") or local.get("Credentials") in ("inherit", "role") else _code(request)),
        *_inputs(request, _sources(local)),
        *_checkpoints(request, _sources(local)),
        *_keys(request),
        *_machine(request, local),
        *_network(request),
    ]
    found += [
        Unavailable(path=violation.path, text=violation.text.partition(" is refused: ")[2].rstrip("."))
        for _, violation in request_reading(kind_of(request)).TABLE.refused(request)
    ]
    order: list[str | int] = list(request)
    return sorted(found, key=lambda each: order.index(each.path[0]))


def _image(request: Mapping[str, Any]) -> Iterator[Unavailable]:
    reads = kind_of(request).reads
    image = reads.image_in(request) or ""
    ecr = _ECR.match(image)
    if ecr is not None:
        yield Unavailable(
            path=reads.IMAGE,
            text=f"the image is in Amazon ECR of account {ecr['account']} in {ecr['region']}, and is pulled with your "
            "AWS credentials unless it is here already",
            local={"Pull": "never"},
            option="--image NAME --pull never",
            words=("--image", image.rpartition("/")[2], "--pull", "never"),
        )


def _code(request: Mapping[str, Any]) -> Iterator[Unavailable]:
    given = str(map_at(request, ("HyperParameters",)).get(_SUBMIT_DIRECTORY) or "").strip('"')
    if given.startswith("s3://"):
        yield Unavailable(
            path=("HyperParameters", _SUBMIT_DIRECTORY),
            text=f"the training toolkit fetches the code from {given} in the container, which has no AWS credentials",
            local={"Credentials": "inherit"},
            option="--code DIR",
            words=("--code", "./code"),
        )


def _sources(local: Mapping[str, Any]) -> Mapping[str, str]:
    given = local.get("Sources")
    return given if isinstance(given, Mapping) else {}


def _inputs(request: Mapping[str, Any], sources: Mapping[str, str]) -> Iterator[Unavailable]:
    places = places_of(request)
    for index, (name, objects, system) in enumerate(inputs_in(request)):
        path: Path = (places.inputs, index)
        folder = f"./data/{_NOT_IN_FOLDERS.sub('-', name) or index}"
        uri, identity = str(objects.get("S3Uri") or ""), str(system.get("FileSystemId") or "")
        if uri.startswith("s3://") and longest_match(uri, sources) is None:
            prefix = uri if objects.get("S3DataType", "S3Prefix") in ("S3Prefix", "Converse") else _bucket(uri)
            yield Unavailable(
                path=(*path, *places.objects, "S3Uri"),
                text=f"the {places.input_word} {name} is read from S3 with your AWS credentials",
                local={"Sources": {prefix: folder}},
                option=f"--source {prefix}=DIR",
                words=("--source", f"{prefix}={folder}"),
            )
        if identity and identity not in sources:
            yield Unavailable(
                path=(*path, *places.file_system, "FileSystemId"),
                text=f"the {places.input_word} {name} is on a file system that is not mounted here: "
                "it needs a local folder",
                local={"Sources": {identity: folder}},
                option=f"--source {identity}=DIR",
                words=("--source", f"{identity}={folder}"),
            )


def _checkpoints(request: Mapping[str, Any], sources: Mapping[str, str]) -> Iterator[Unavailable]:
    uri = str(map_at(request, ("CheckpointConfig",)).get("S3Uri") or "")
    if uri.startswith("s3://") and longest_match(uri, sources) is None:
        yield Unavailable(
            path=("CheckpointConfig", "S3Uri"),
            text=f"the checkpoints in {uri} are read with your AWS credentials, as they are now; "
            "an empty folder begins without any",
            local={"Sources": {uri: _CHECKPOINTS}},
            option=f"--source {uri}=DIR",
            words=("--source", f"{uri}={_CHECKPOINTS}"),
        )


def _bucket(uri: str) -> str:
    """The bucket of a manifest: the objects it names may be anywhere in it."""
    return "/".join(uri.split("/")[:3])


def _keys(request: Mapping[str, Any]) -> Iterator[Unavailable]:
    places = places_of(request)
    for around, key in ((places.output, "KmsKeyId"), (places.machines, "VolumeKmsKeyId")):
        if map_at(request, around).get(key):
            yield Unavailable(path=(*around, key), text="nothing is encrypted here: the KMS key is not used")


def _machine(request: Mapping[str, Any], local: Mapping[str, Any]) -> Iterator[Unavailable]:
    decided = bool(local.get("AllowCpu")) or local.get("Gpus", "auto") != "auto"
    at = places_of(request).machines
    resources = map_at(request, at)
    groups: list[tuple[Path, Mapping[str, Any]]] = [(at, resources)]
    given = resources.get("InstanceGroups")
    groups += [
        ((*at, "InstanceGroups", index), each if isinstance(each, Mapping) else {})
        for index, each in enumerate(given if isinstance(given, list) else ())
    ]
    for path, group in groups:
        name = str(group.get("InstanceType") or "")
        devices = "" if decided else _devices(name)
        if devices:
            yield Unavailable(
                path=(*path, "InstanceType"),
                text=f"{name} has {devices}, which this machine may not have",
                local={"AllowCpu": True},
                option="--allow-cpu",
                words=("--allow-cpu",),
            )
    hosts = sum(each for _, group in groups if isinstance(each := group.get("InstanceCount"), int))
    most = local.get("MaxHosts", members(LocalSettings)["MaxHosts"].default)
    if not isinstance(most, int) or hosts > most:
        yield Unavailable(
            path=at,
            text=f"{hosts} hosts are {hosts} containers of this machine",
            local={"MaxHosts": hosts},
            option=f"--set Local.MaxHosts={hosts}",
            words=("--set", f"Local.MaxHosts={hosts}"),
        )


def _devices(name: str) -> str:
    try:
        kind = None if is_this_machine(name) else instance_type(name)
    except LookupError:
        kind = None
    if kind is None or not (kind.gpus or kind.neuron_devices):
        return ""
    count = kind.gpus or kind.neuron_devices
    return f"{count} {'GPU' if kind.gpus else 'Neuron device'}{'s' * (count != 1)}"


def _network(request: Mapping[str, Any]) -> Iterator[Unavailable]:
    at = places_of(request).vpc
    if map_at(request, at):
        yield Unavailable(
            path=at,
            text="containers are on a network of this machine: servers that only that VPC reaches are not reachable",
        )
