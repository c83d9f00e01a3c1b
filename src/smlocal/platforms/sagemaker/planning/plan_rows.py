"""Rows of a plan for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.contract.listing import Listing
from smlocal.contract.secrets.masking import masked_file
from smlocal.job.plan_rows import (
    COLUMN,
    device_rows,
    engine_rows,
    environment_rows,
    host_kinds,
    host_names,
    image_text,
    network_text,
    note_rows,
    one_line,
    request_text,
)
from smlocal.planning.model import HostPlan, JobPlan, PipePlan, TreePlan
from smlocal.planning.rules import RulePlan
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.planning.document import file_document, limits_document
from smlocal.platforms.sagemaker.planning.rules import INVOKED
from smlocal.platforms.sagemaker.planning.script import no_script
from smlocal.readable import readable_bytes, short_path

_FILE_COLUMN = 38
_SHOWN_BYTES = 300


def plan_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """Heads, and the texts beside them."""
    yield "Job", plan.name
    yield "", plan.arn
    yield "Image", image_text(plan)
    yield from note_rows(plan)
    yield "Hosts", f"{host_names(plan)} ({', '.join(host_kinds(plan))}) {network_text(plan)}"
    yield from engine_rows(plan)
    yield from device_rows(plan)
    yield from _limits(plan)
    yield "Request", request_text(plan)
    yield from _tree(plan)
    yield from environment_rows(plan)
    yield from (("" if index else "Rules", _rule(rule)) for index, rule in enumerate(plan.rules))
    stop = plan.stop
    yield "Stops", f"after {stop.max_runtime} s; SIGTERM, {stop.grace} s, SIGKILL"
    yield "Output", short_path(f"{plan.output.directory}/output")
    yield "By hand", no_script(plan) or "smlocal plan --script prints this job as a script of docker commands"


def _rule(rule: RulePlan) -> str:
    """A debugger rule, and what evaluates it beside the job."""
    invoked = rule.parameters.get(INVOKED, "")
    if rule.image is not None:
        return f"{rule.name}: the image {rule.image}"
    if rule.source is not None:
        source = rule.source if rule.source.startswith("s3://") else short_path(rule.source)
        return f"{rule.name}: {invoked} of {source}"
    return f"{rule.name}: {invoked}, {'not evaluated' if rule.recorded or rule.unknown else 'built in'}"


def _limits(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The limits of the containers, for each instance type once."""
    shown = {host.host.instance_type: limits_document(host.limits) for host in plan.hosts}
    for kind, limits in shown.items():
        if limits:
            yield "Limits", f"{kind}: {', '.join(f'{name} {_limit(limit)}' for name, limit in limits.items())}"


def _limit(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {soft}:{hard}" for name, (soft, hard) in value.items())
    return readable_bytes(value) if isinstance(value, int) else f"{value:g}"


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
        yield f"{head if index == 0 else '':<{COLUMN}}{path:<{column}} ", text


def _entries(plan: JobPlan, host: HostPlan) -> dict[str, str]:
    code = [plan.code] if plan.code is not None else []
    output = short_path(f"{plan.output.directory}/output")
    model = "model/" if plan.output.compression == "NONE" else "model.tar.gz"
    mount = "bind mount" if plan.engine.shares_folders else "engine volume"
    entries = {
        **dict.fromkeys(host.directories, "empty"),
        paths.INPUT: f"{mount} of a new folder",
        paths.OUTPUT: f"{mount} of a new folder",
        **{path: _content(path, text) for path, text in host.files.items()},
        **{tree.target: _channel(tree) for tree in (*host.channels, *code)},
        **{f"{pipe.target}_0": _pipe(pipe) for pipe in host.pipes},
        paths.MODEL: f"{mount} of a new folder, collected to {output}/{model}",
        paths.OUTPUT_DATA: f"empty, collected to {output}/output.tar.gz",
        paths.FAILURE: "read if the host fails",
    }
    if plan.checkpoints is not None:
        saved = plan.checkpoints.s3_prefix or short_path(plan.checkpoints.directory)
        count = len(plan.checkpoints.listing.paths)
        entries[plan.checkpoints.local_path] = (
            f"{mount} with {_files(count)} of {plan.checkpoints.uri}, mirrored to {saved}"
            if plan.checkpoints.listing.remote
            else f"{mount} with {_files(count)} of {saved}, mirrored there"
        )
    for each in plan.collectors:
        entries[each.local_path] = f"empty, mirrored to {each.s3_prefix or short_path(each.directory)}"
    for full in (paths.CONFIG, paths.DATA):
        entries.pop(full, None)
    return {path.removeprefix(f"{paths.ROOT}/"): text for path, text in entries.items()}


_HOW = {
    "overlay": "copy-on-write of",
    "copy": "copy of",
    "bind": "read-only view of",
    "send": "engine volume, uploaded from",
    "fuse": "read-only view, fetched on read, of",
}


def _channel(tree: TreePlan) -> str:
    """How a channel's data gets there, and which files they are."""
    if tree.mode == "FileSystem":
        return f"{short_path(tree.listing.root)} itself, {'rw' if tree.writable else 'ro'}"
    how = "downloaded, then " if tree.listing.remote and tree.staging != "fuse" else ""
    return f"{how}{_HOW[tree.staging]} {_what(tree.listing)}{f': {tree.reason}' if tree.reason else ''}"


def _pipe(pipe: PipePlan) -> str:
    """What the FIFOs of a channel deliver."""
    way = ["Gzip" * pipe.gzip, "RecordIO" * pipe.record_io]
    way += [f"shuffled by {pipe.seed}" if pipe.seed is not None else "", ", ".join(pipe.attributes)]
    if pipe.shard.count > 1:
        way.append(f"shard {pipe.shard.index + 1} of {pipe.shard.count}")
    extra = "; ".join(filter(None, way))
    return f"one FIFO per epoch, of {_what(pipe.listing)}{f' ({extra})' if extra else ''}"


def _what(listing: Listing) -> str:
    count = len(listing.paths)
    if listing.remote:
        return f"{listing.bucket_uri}{listing.prefix} ({_files(count, 'object')})"
    root = short_path(listing.root)
    if listing.whole_tree:
        return f"{root} ({_files(count)})"
    return f"{root}/{listing.paths[0]}" if count == 1 else f"{_files(count)} in {root}"


def _files(count: int, kind: str = "file") -> str:
    return f"{count} {kind}{'s' * (count != 1)}"


def _content(path: str, content: bytes) -> str:
    """A short file completely, a long one as its first line, size and digest. The text is without secrets."""
    document = file_document(content)
    shown = file_document(masked_file(path, content))
    text = shown.get("Content")
    if text is None:
        text = shown["Head"][0]
    if "Content" not in document:
        size = f"{document['Lines']} lines, {document['Bytes']} bytes"
        return f"{size}, sha256 {document['Sha256'][:12]}…: {one_line(text)} …"
    return one_line(text) if len(content) <= _SHOWN_BYTES else f"{len(content)} bytes: {one_line(text[:60])}…"
