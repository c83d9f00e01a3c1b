"""The plain job of a check: the job that was named, on little local data, with nothing of the user's to write to."""

import copy
import os
import shutil
from collections.abc import Iterator
from typing import Any

from smlocal.api.run import plan
from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.jobs.interface import Request
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.contract.instance_types import instance_type, is_this_machine
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.terms.limits import read_size
from smlocal.terms.listing import Listing

CHECKPOINTS = "checkpoints"
"""Below the output folder."""
_MOST_HOSTS = 2
_MOST_PROCESSES = 4096
_MOST_QUARTERS = 3
"""Of the memory of this machine."""
_MOST_FILES = 200
_MOST_BYTES = 32 << 20
_ROWS = 20
_NOT_KEPT = ("EnableManagedSpotTraining", "RetryStrategy")
_NOT_KEPT_LOCAL = ("Check", "Credentials", "Faults", "Keep", "Output", "Publish")


@dataclass(frozen=True, kw_only=True, slots=True)
class Plain:
    """The start of all jobs of a check."""

    request: Request
    guessed: bool
    first_files: dict[str, str]
    """The name of the first file of each channel."""
    memory: int
    """Bytes that each host may use on the service; 0 for an instance type that the service does not have."""


def plain_job(image: str, job: JobFile | None, folder: str, timeout: int) -> Plain:
    """Describe it. Data that is made lies in `folder`.

    Raises `CannotLookError` for data that is not on this machine.
    """
    request = _guess(image, folder) if job is None else _of(job)
    output = os.path.join(folder, "output")
    local = request.setdefault("Local", {})
    for name in _NOT_KEPT:
        request.pop(name, None)
    for name in _NOT_KEPT_LOCAL:
        local.pop(name, None)
    local |= {"Pull": "never", "StopGraceSeconds": 1, "PeerGraceSeconds": 1}
    request["StoppingCondition"] = {"MaxRuntimeInSeconds": timeout}
    request["OutputDataConfig"] = {**(request.get("OutputDataConfig") or {}), "S3OutputPath": output}
    for member in ("TensorBoardOutputConfig", "DebugHookConfig"):
        if request.get(member):
            request[member]["S3OutputPath"] = output
    if request.get("CheckpointConfig"):
        request["CheckpointConfig"]["S3Uri"] = os.path.join(folder, CHECKPOINTS)
    resources = request["ResourceConfig"]
    if "InstanceCount" in resources:
        resources["InstanceCount"] = min(resources["InstanceCount"], _MOST_HOSTS)
    _need_local_data(request)
    looked = plan(request, name="check")
    memory = _limit(request, looked)
    return Plain(
        request=request, guessed=job is None, first_files=_take_samples(request, looked, folder), memory=memory
    )


def channel(request: Request, name: str) -> dict[str, Any]:
    """The channel of this name."""
    found: dict[str, Any] = next(each for each in request["InputDataConfig"] if each["ChannelName"] == name)
    return found


def s3_source(request: Request, name: str) -> dict[str, Any]:
    """Where the data of a channel comes from."""
    found: dict[str, Any] = channel(request, name)["DataSource"].get("S3DataSource") or {}
    return found


def _guess(image: str, folder: str) -> Request:
    """A job of an image without a description: one channel `training` with a table of numbers."""
    data = os.path.join(folder, "training")
    os.makedirs(data)
    with open(os.path.join(data, "data.csv"), "w", encoding="ascii") as file:
        file.writelines(f"{row % 2},{row},{row * row}\n" for row in range(_ROWS))
    source = {"S3DataType": "S3Prefix", "S3DataDistributionType": "FullyReplicated", "S3Uri": data}
    return {
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "InputDataConfig": [{"ChannelName": "training", "DataSource": {"S3DataSource": source}}],
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
    }


def _of(job: JobFile) -> Request:
    """The request of the file, with absolute paths."""
    request: Request = copy.deepcopy(job.document.data)
    folder = job.document.directory
    local = request.get("Local") or {}
    request["Local"] = local
    for prefix, path in (local.get("Sources") or {}).items():
        local["Sources"][prefix] = _absolute(path, folder)
    if local.get("Code"):
        local["Code"] = _absolute(local["Code"], folder)
    for each in request.get("InputDataConfig") or ():
        source = each["DataSource"]
        if "S3DataSource" in source:
            source["S3DataSource"]["S3Uri"] = _absolute(source["S3DataSource"]["S3Uri"], folder)
    return request


def _absolute(path: str, folder: str) -> str:
    if "://" in path or path.startswith("~"):
        return path
    whole = os.path.join(folder, path)
    return whole if path.endswith("/") else os.path.normpath(whole)


def _limit(request: Request, looked: "JobPlan") -> int:
    """Let no job of a check take all of this machine; returns the memory that each host may use on the service."""
    local, machine = request["Local"], looked.engines.machine.memory_mib << 20
    local.setdefault("Processes", _MOST_PROCESSES)
    own = read_size(local.get("Memory") or "")
    types = [host.host.instance_type for host in looked.hosts if not is_this_machine(host.host.instance_type)]
    known = [instance_type(name).memory_mib << 20 for name in types] + ([own] if own else [])
    memory = min(known, default=0)
    local["Memory"] = min(memory or machine, machine * _MOST_QUARTERS // 4)
    return memory


def _need_local_data(request: Request) -> None:
    for name, source in _sources(request):
        if source.get("FileSystemAccessMode") == "rw":
            raise CannotLookError(
                f"the channel {name} is a file system that a job may write to",
                test="set its FileSystemAccessMode to ro in the checked file",
            )
        uri = source.get("S3Uri", "")
        if uri.startswith(("s3://", "https://", "arn:")) and not _mapped(uri, request["Local"].get("Sources") or {}):
            raise CannotLookError(
                f"the data of the channel {name} is in S3; give a local folder for {uri} in Local.Sources",
                test="do that",
            )


def _take_samples(request: Request, looked: "JobPlan", folder: str) -> dict[str, str]:
    """Let channels with much data have some of their files only; returns the name of the first file of each."""
    listings = {tree.name: tree.listing for tree in looked.trees} | {pipe.name: pipe.listing for pipe in looked.pipes}
    for name, listing in listings.items():
        source = s3_source(request, name)
        large = len(listing.paths) > _MOST_FILES or (listing.total_bytes or 0) > _MOST_BYTES
        if large and source.get("S3DataType") == "S3Prefix":
            sample = _sample(listing, os.path.join(folder, f"sample-{name}"))
            if sample is not None:
                source["S3Uri"] = sample
    return {name: os.path.basename(listing.paths[0]) for name, listing in listings.items() if listing.paths}


def _sources(request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in request.get("InputDataConfig") or ():
        for source in each["DataSource"].values():
            yield each["ChannelName"], source


def _mapped(uri: str, sources: dict[str, str]) -> bool:
    return any(uri == prefix or uri.startswith(f"{prefix.rstrip('/')}/") for prefix in sources)


def _sample(listing: "Listing", folder: str) -> str | None:
    """Copies of the first files, as many as are little; None if not even one is, and the data stays as it is."""
    left = _MOST_BYTES
    for index, path in enumerate(listing.paths[:_MOST_FILES]):
        file = listing.file(index)
        left -= os.path.getsize(file)
        if left < 0:
            return folder if index else None
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(file, target)
    return folder
