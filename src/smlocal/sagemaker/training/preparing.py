"""SageMaker's training jobs before they run. Plans are made in `planning`; here they are shown.

That is the JSON document of `smlocal plan --json`, and rows for people.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.base.readable import short_path
from smlocal.jobs.kinds import Preparing
from smlocal.jobs.planning.aspects.accelerators.show import device_rows, host_kinds
from smlocal.jobs.planning.aspects.data_parallel.plan import PACKAGE, RECORDS
from smlocal.jobs.planning.aspects.engines.show import engine_rows
from smlocal.jobs.planning.aspects.image.show import image_document, image_text
from smlocal.jobs.planning.aspects.inputs.show import pipe_document, pipe_text, tree_document, tree_text
from smlocal.jobs.planning.aspects.limits.show import limit_rows, limits_document
from smlocal.jobs.planning.aspects.network.show import network_document, network_text
from smlocal.jobs.planning.model import (
    HostPlan,
    JobPlan,
    checkpoint_directory,
    collector_directory,
    data_parallel_directory,
    mounted_directory,
    note_documents,
    records_directory,
)
from smlocal.sagemaker.contract import paths
from smlocal.terms.masking import masked_file

if TYPE_CHECKING:
    from hashlib import sha256

    from smlocal.jobs.planning import plan_rows as rows
    from smlocal.jobs.planning.aspects.mirrored.show import checkpoints_document, collector_documents, mirrored_entries
    from smlocal.jobs.planning.aspects.rules.show import rule_documents, rule_text
    from smlocal.jobs.planning.aspects.warm_pool.show import pool_text
    from smlocal.sagemaker.training.planning import plan_again, prepare, read_recorded
    from smlocal.sagemaker.training.script import no_script, shell_script
    from smlocal.sagemaker.training.workload import workload_of
else:
    workload_of = at_use("smlocal.sagemaker.training.workload", "workload_of")
    rows = at_use("smlocal.jobs.planning.plan_rows")
    no_script = at_use("smlocal.sagemaker.training.script", "no_script")
    shell_script = at_use("smlocal.sagemaker.training.script", "shell_script")
    sha256 = at_use("hashlib", "sha256")
    checkpoints_document = at_use("smlocal.jobs.planning.aspects.mirrored.show", "checkpoints_document")
    collector_documents = at_use("smlocal.jobs.planning.aspects.mirrored.show", "collector_documents")
    mirrored_entries = at_use("smlocal.jobs.planning.aspects.mirrored.show", "mirrored_entries")
    rule_documents = at_use("smlocal.jobs.planning.aspects.rules.show", "rule_documents")
    rule_text = at_use("smlocal.jobs.planning.aspects.rules.show", "rule_text")
    pool_text = at_use("smlocal.jobs.planning.aspects.warm_pool.show", "pool_text")
    plan_again = at_use("smlocal.sagemaker.training.planning", "plan_again")
    prepare = at_use("smlocal.sagemaker.training.planning", "prepare")
    read_recorded = at_use("smlocal.sagemaker.training.planning", "read_recorded")

_WHOLE_FILE = 4096
_HEAD_LINES = 5
_FILE_COLUMN = 38
_SHOWN_BYTES = 300


class TrainingPreparing(Preparing[JobPlan]):
    """Each attempt is planned again, and most jobs have a script."""

    read = staticmethod(read_recorded)
    workload = staticmethod(workload_of)
    plan_again = staticmethod(plan_again)
    prepare = staticmethod(prepare)
    script = staticmethod(shell_script)

    def plan_document(self, plan: JobPlan) -> dict[str, Any]:
        """Everything that `smlocal plan --json` prints."""
        return {
            "Version": 1,
            "TrainingJobName": plan.name,
            "TrainingJobArn": plan.identity.arn,
            "Region": plan.identity.region,
            "Account": plan.identity.account,
            "Request": dict(plan.request),
            "Image": {"Name": plan.image.name, **image_document(plan)},
            "Engine": {
                "Address": plan.engines.first.address,
                "Version": plan.engines.first.version,
                "Product": plan.engines.first.product,
                "Rootless": plan.engines.first.rootless,
                "Desktop": plan.engines.first.desktop,
                "Here": plan.engines.first.local,
                "SharesFolders": plan.engines.first.shares_folders,
            },
            "Engines": [
                {"Address": each.address, "Version": each.version, "Architecture": each.architecture}
                for each in plan.engines.several
            ],
            "Entrypoint": plan.image.entrypoint,
            "Command": plan.image.command,
            "Network": network_document(plan),
            **({"JoinedNetworks": list(plan.network.joined)} if plan.network.joined else {}),
            **({"SharedNetwork": plan.network.shared} if plan.network.shared else {}),
            "Credentials": None if plan.credentials is None else {"Mode": plan.credentials.mode},
            "Hosts": [_host(plan, host) for host in plan.hosts],
            "Checkpoints": None if plan.mirrored.checkpoints is None else checkpoints_document(plan),
            "Collectors": [] if plan.mirrored.empty else collector_documents(plan),
            "Rules": rule_documents(plan) if plan.rules.each else [],
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

    def plan_rows(self, plan: JobPlan) -> Iterator[tuple[str, str]]:
        """Heads, and the texts beside them."""
        yield "Job", plan.name
        yield "", plan.identity.arn
        yield "Image", image_text(plan)
        yield from rows.note_rows(plan)
        yield "Hosts", f"{rows.host_names(plan)} ({', '.join(host_kinds(plan))}) {network_text(plan)}"
        yield from engine_rows(plan)
        yield from device_rows(plan)
        yield from limit_rows(plan)
        yield "Request", rows.request_text(plan)
        yield from _tree(plan)
        yield from rows.environment_rows(plan)
        yield from (("" if index else "Rules", rule_text(rule)) for index, rule in enumerate(plan.rules.each))
        stop = plan.stop
        yield "Stops", f"after {stop.max_runtime} s; SIGTERM, {stop.grace} s, SIGKILL"
        yield "Output", short_path(f"{plan.output.directory}/output")
        yield "By hand", no_script(plan) or "smlocal plan --script prints this job as a script of docker commands"


PREPARING: Final = TrainingPreparing()


def file_document(content: bytes) -> dict[str, Any]:
    """The content of a short file; the first lines, line count and SHA-256 of a long one."""
    if len(content) <= _WHOLE_FILE:
        return {"Bytes": len(content), "Content": content.decode("utf-8", errors="replace")}

    head = content[:_WHOLE_FILE].split(b"\n")[:_HEAD_LINES]
    return {
        "Bytes": len(content),
        "Head": [line.decode("utf-8", errors="replace") for line in head],
        "Lines": content.count(b"\n"),
        "Sha256": sha256(content).hexdigest(),
    }


def _host(plan: JobPlan, host: HostPlan) -> dict[str, Any]:
    kind = _kind(plan)
    return {
        "Name": host.host.name,
        "InstanceType": host.host.instance_type,
        "InstanceGroup": host.host.group,
        "Gpus": host.accelerators.gpu_count,
        "GpuIds": None
        if host.accelerators.gpus is None
        else "all"
        if host.accelerators.gpus.every
        else host.accelerators.gpus.ids,
        **({"NeuronDevices": host.accelerators.neuron} if host.accelerators.neuron else {}),
        "Limits": limits_document(host.limits),
        **({} if plan.debug is None else {"DebugPort": plan.debug.ports[host.host.name]}),
        "Container": host.container,
        "Engine": plan.engine_of(host).address,
        "Hostname": host.names.hostname,
        "ExtraHosts": dict(host.names.extra_hosts),
        "Aliases": host.names.aliases,
        "Environment": dict(host.environment),
        "Directories": host.directories,
        "Files": {path: file_document(content) for path, content in host.files.items()},
        "Mounts": [
            *({"Target": f, "Kind": kind, "Source": mounted_directory(plan, host, f)} for f in plan.folders.mounted),
            *(
                tree_document(tree)
                for tree in (*host.inputs.trees, *([plan.inputs.code] if plan.inputs.code is not None else []))
            ),
            *(pipe_document(pipe) for pipe in host.inputs.pipes),
            *_mirrored_mounts(plan, host),
            *_data_parallel_mounts(plan, host),
        ],
    }


def _mirrored_mounts(plan: JobPlan, host: HostPlan) -> list[dict[str, Any]]:
    folders = [
        (each.local_path, collector_directory(plan, host, each)) for each in plan.mirrored.collectors if each.own_mount
    ]
    if plan.mirrored.checkpoints is not None and plan.mirrored.checkpoints.own_mount:
        folders.append((plan.mirrored.checkpoints.local_path, checkpoint_directory(plan, host)))
    return [{"Target": target, "Kind": _kind(plan), "Source": source} for target, source in folders]


def _data_parallel_mounts(plan: JobPlan, host: HostPlan) -> list[dict[str, Any]]:
    if plan.data_parallel is None:
        return []
    return [
        {"Target": PACKAGE, "Kind": _kind(plan), "Source": data_parallel_directory(plan, host), "Writable": False},
        {"Target": RECORDS, "Kind": _kind(plan), "Source": records_directory(plan, host)},
    ]


def _kind(plan: JobPlan) -> str:
    """How folders of the job reach the container: mounted, or sent into volumes of the engine."""
    return "bind" if plan.engines.first.shares_folders else "send"


def _tree(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The files of the first host, and those of other hosts that differ."""
    first, *others = plan.hosts
    entries = _entries(plan, first)
    column = max(_FILE_COLUMN, *(len(path) for path in entries))
    yield from _listing("/opt/ml", entries, column)
    for host in others:
        # The content is compared: the part of long files that is shown may be the same.
        same = {path.removeprefix("/opt/ml/") for path, c in host.files.items() if first.files.get(path) == c}
        differing = {
            path: text
            for path, text in _entries(plan, host).items()
            if path not in same and (entries.get(path) != text or f"/opt/ml/{path}" in host.files)
        }
        yield from _listing(f"  {host.host.name}", differing, column)


def _listing(head: str, entries: Mapping[str, str], column: int) -> Iterator[tuple[str, str]]:
    for index, (path, text) in enumerate(sorted(entries.items())):
        yield f"{head if index == 0 else '':<{rows.COLUMN}}{path:<{column}} ", text


def _entries(plan: JobPlan, host: HostPlan) -> dict[str, str]:
    code = [plan.inputs.code] if plan.inputs.code is not None else []
    output = short_path(f"{plan.output.directory}/output")
    model = "model/" if plan.output.compression == "NONE" else "model.tar.gz"
    mount = "bind mount" if plan.engines.first.shares_folders else "engine volume"
    entries = {
        **dict.fromkeys(host.directories, "empty"),
        paths.WARM_POOL: pool_text(plan),
        paths.INPUT: f"{mount} of a new folder",
        paths.OUTPUT: f"{mount} of a new folder",
        **{path: _content(path, text) for path, text in host.files.items()},
        **{tree.target: tree_text(tree) for tree in (*host.inputs.trees, *code)},
        **{f"{pipe.target}_0": pipe_text(pipe) for pipe in host.inputs.pipes},
        paths.MODEL: f"{mount} of a new folder, collected to {output}/{model}",
        paths.OUTPUT_DATA: f"empty, collected to {output}/output.tar.gz",
        paths.FAILURE: "read if the host fails",
    }
    entries |= mirrored_entries(plan, mount)
    for full in (paths.CONFIG, paths.DATA):
        entries.pop(full, None)
    return {path.removeprefix(f"{paths.ROOT}/"): text for path, text in entries.items()}


def _content(path: str, content: bytes) -> str:
    """A short file completely, a long one as its first line, size and digest. The text is without secrets."""
    document = file_document(content)
    shown = file_document(masked_file(path, content))
    text = shown.get("Content")
    if text is None:
        text = shown["Head"][0]
    if "Content" not in document:
        size = f"{document['Lines']} lines, {document['Bytes']} bytes"
        return f"{size}, sha256 {document['Sha256'][:12]}…: {rows.one_line(text)} …"
    return rows.one_line(text) if len(content) <= _SHOWN_BYTES else f"{len(content)} bytes: {rows.one_line(text[:60])}…"
