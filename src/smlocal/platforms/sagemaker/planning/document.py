"""The plan as the JSON document of `smlocal plan --json`."""

from collections.abc import Mapping
from typing import Any

from smlocal.contract.limits import Limits
from smlocal.contract.listing import Listing
from smlocal.planning.host_folders import (
    checkpoint_directory,
    collector_directory,
    data_parallel_directory,
    host_directory,
    records_directory,
)
from smlocal.planning.model import HostPlan, JobPlan, PipePlan, TreePlan
from smlocal.planning.note_documents import note_documents

_WHOLE_FILE = 4096
_HEAD_LINES = 5


def plan_document(plan: JobPlan) -> dict[str, Any]:
    """Everything that `smlocal plan --json` prints."""
    return {
        "Version": 1,
        "TrainingJobName": plan.name,
        "TrainingJobArn": plan.arn,
        "Region": plan.region,
        "Account": plan.account,
        "Request": dict(plan.request),
        "Image": {"Name": plan.image, **_image(plan)},
        "Engine": {
            "Address": plan.engine.address,
            "Version": plan.engine.version,
            "Product": plan.engine.product,
            "Rootless": plan.engine.rootless,
            "Desktop": plan.engine.desktop,
            "Here": plan.engine.local,
            "SharesFolders": plan.engine.shares_folders,
        },
        "Engines": [
            {"Address": each.address, "Version": each.version, "Architecture": each.architecture}
            for each in plan.engines
        ],
        "Entrypoint": plan.entrypoint,
        "Command": plan.command,
        "Network": _network(plan),
        "Credentials": None if plan.credentials is None else {"Mode": plan.credentials.mode},
        "Hosts": [_host(plan, host) for host in plan.hosts],
        "Checkpoints": _checkpoints(plan),
        "Collectors": [
            {
                "Member": each.member,
                "Requested": each.uri,
                "Directory": each.directory,
                "Published": each.s3_prefix,
                "LocalPath": each.local_path,
            }
            for each in plan.collectors
        ],
        "Rules": [
            {
                "RuleConfigurationName": each.name,
                "Image": each.image,
                "Source": each.source,
                "OtherTrials": list(each.trials),
                "Recorded": bool(each.recorded or each.unknown),
            }
            for each in plan.rules
        ],
        "Output": {
            "Requested": plan.output.uri,
            "Directory": f"{plan.output.directory}/output",
            "S3ModelArtifacts": plan.output.model_uri,
            "CompressionType": plan.output.compression,
            "MergeOutput": plan.output.merge_output,
        },
        "Stop": {
            "MaxRuntimeInSeconds": plan.stop.max_runtime,
            "GraceSeconds": plan.stop.grace,
            "PeerGraceSeconds": plan.stop.peer_grace,
        },
        "Notes": note_documents(plan),
    }


def file_document(content: bytes) -> dict[str, Any]:
    """The content of a short file; the first lines, line count and SHA-256 of a long one."""
    if len(content) <= _WHOLE_FILE:
        return {"Bytes": len(content), "Content": content.decode("utf-8", errors="replace")}
    from hashlib import sha256

    head = content[:_WHOLE_FILE].split(b"\n")[:_HEAD_LINES]
    return {
        "Bytes": len(content),
        "Head": [line.decode("utf-8", errors="replace") for line in head],
        "Lines": content.count(b"\n"),
        "Sha256": sha256(content).hexdigest(),
    }


def _network(plan: JobPlan) -> dict[str, Any] | None:
    network = plan.network
    if network is None:
        return None
    return {
        "Name": network.name,
        "Subnet": network.subnet,
        "Isolated": network.isolated,
        "Manager": network.manager or None,
        "Addresses": dict(network.addresses),
    }


def _checkpoints(plan: JobPlan) -> dict[str, Any] | None:
    checkpoints = plan.checkpoints
    if checkpoints is None:
        return None
    return {
        "Requested": checkpoints.uri,
        "Directory": checkpoints.directory,
        "Published": checkpoints.s3_prefix,
        "LocalPath": checkpoints.local_path,
        "Files": len(checkpoints.listing.paths),
        "Bytes": checkpoints.listing.total_bytes,
    }


def _image(plan: JobPlan) -> Mapping[str, Any]:
    facts = plan.image_facts
    if facts is None:
        return {"Here": False}
    return {
        "Here": True,
        "Id": facts.id,
        "Platform": f"{facts.operating_system}/{facts.architecture}",
        "Size": facts.size,
        "Entrypoint": facts.entrypoint,
        "User": facts.user,
        "WorkingDirectory": facts.working_directory,
    }


def _host(plan: JobPlan, host: HostPlan) -> dict[str, Any]:
    below = host_directory(plan, host)
    folders = plan.folders.mounted
    kind = _kind(plan)
    return {
        "Name": host.host.name,
        "InstanceType": host.host.instance_type,
        "InstanceGroup": host.host.group,
        "Gpus": host.gpus,
        "GpuIds": None if host.devices is None else "all" if host.devices.every else host.devices.ids,
        **({"NeuronDevices": host.neuron} if host.neuron else {}),
        "Limits": limits_document(host.limits),
        "Container": host.container,
        "Engine": plan.engine_of(host).address,
        "Hostname": host.hostname,
        "ExtraHosts": dict(host.extra_hosts),
        "Aliases": host.aliases,
        "Environment": dict(host.environment),
        "Directories": host.directories,
        "Files": {path: file_document(content) for path, content in host.files.items()},
        "Mounts": [
            *({"Target": f, "Kind": kind, "Source": f"{below}/{f.removeprefix('/opt/ml/')}"} for f in folders),
            *(_tree(tree) for tree in (*host.channels, *([plan.code] if plan.code is not None else []))),
            *(_pipe(pipe) for pipe in host.pipes),
            *_mirrored_mounts(plan, host),
            *_data_parallel_mounts(plan, host),
        ],
    }


def limits_document(limits: Limits) -> dict[str, Any]:
    """The limits that are set."""
    document = {
        "Memory": limits.memory,
        "Cpus": limits.cpus,
        "ShmSize": limits.shared_memory,
        "Ulimits": {name: list(pair) for name, pair in limits.ulimits.items()} or None,
        "Processes": limits.processes,
        "Disk": limits.disk,
    }
    return {name: value for name, value in document.items() if value is not None}


def _mirrored_mounts(plan: JobPlan, host: HostPlan) -> list[dict[str, Any]]:
    folders = [(each.local_path, collector_directory(plan, host, each)) for each in plan.collectors if each.own_mount]
    if plan.checkpoints is not None and plan.checkpoints.own_mount:
        folders.append((plan.checkpoints.local_path, checkpoint_directory(plan, host)))
    return [{"Target": target, "Kind": _kind(plan), "Source": source} for target, source in folders]


def _data_parallel_mounts(plan: JobPlan, host: HostPlan) -> list[dict[str, Any]]:
    if plan.data_parallel is None:
        return []
    from smlocal.distributed.mounts import PACKAGE, RECORDS

    return [
        {"Target": PACKAGE, "Kind": _kind(plan), "Source": data_parallel_directory(plan, host), "Writable": False},
        {"Target": RECORDS, "Kind": _kind(plan), "Source": records_directory(plan, host)},
    ]


def _kind(plan: JobPlan) -> str:
    """How folders of the job reach the container: mounted, or sent into volumes of the engine."""
    return "bind" if plan.engine.shares_folders else "send"


def _tree(tree: TreePlan) -> dict[str, Any]:
    return {
        "Target": tree.target,
        "Kind": tree.staging,
        "Mode": tree.mode,
        "Writable": tree.writable,
        **_source(tree.uri, tree.listing),
        **({} if tree.reason is None else {"Reason": tree.reason}),
    }


def _pipe(pipe: PipePlan) -> dict[str, Any]:
    return {
        "Target": f"{pipe.target}_0",
        "Kind": "fifo",
        "Mode": "Pipe",
        **_source(pipe.uri, pipe.listing),
        "Shard": [pipe.shard.index, pipe.shard.count],
        "RecordIO": pipe.record_io,
        "Gzip": pipe.gzip,
        "Seed": pipe.seed,
        "Attributes": pipe.attributes,
    }


def _source(uri: str, listing: Listing) -> dict[str, Any]:
    return {
        "Source": listing.root or listing.bucket_uri,
        "Uri": uri,
        "Files": len(listing.paths),
        "Bytes": listing.total_bytes,
        **({} if listing.failure is None else {"Fails": listing.failure}),
    }
