"""The views of channels and code: rows, documents, and notes where delivery differs from the service's."""

from collections.abc import Iterator
from typing import Any

from smlocal.base.readable import short_path
from smlocal.jobs.planning.aspects.rules.plan import rule_locations
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.channels import PipePlan, TreePlan
from smlocal.terms.listing import Listing

_IN_PLACE = {"overlay", "bind"}
_HOW = {
    "overlay": "copy-on-write of",
    "copy": "copy of",
    "bind": "read-only view of",
    "send": "engine volume, uploaded from",
    "fuse": "read-only view, fetched on read, of",
}


def inputs(plan: JobPlan) -> tuple[TreePlan | PipePlan, ...]:
    """All channels except file systems."""
    return (*(tree for tree in plan.trees if tree.mode != "FileSystem"), *plan.pipes)


def tree_text(tree: TreePlan) -> str:
    """How a channel's data gets there, and which files they are."""
    if tree.mode == "FileSystem":
        return f"{short_path(tree.listing.root)} itself, {'rw' if tree.writable else 'ro'}"
    how = "downloaded, then " if tree.listing.remote and tree.staging != "fuse" else ""
    return f"{how}{_HOW[tree.staging]} {_what(tree.listing)}{f': {tree.reason}' if tree.reason else ''}"


def pipe_text(pipe: PipePlan) -> str:
    """The deliveries of a channel's FIFOs."""
    way = ["Gzip" * pipe.gzip, "RecordIO" * pipe.record_io]
    way += [f"shuffled by {pipe.seed}" if pipe.seed is not None else "", ", ".join(pipe.attributes)]
    if pipe.shard.count > 1:
        way.append(f"shard {pipe.shard.index + 1} of {pipe.shard.count}")
    extra = "; ".join(filter(None, way))
    return f"one FIFO per epoch, of {_what(pipe.listing)}{f' ({extra})' if extra else ''}"


def _what(listing: Listing) -> str:
    count = len(listing.paths)
    if listing.remote:
        return f"{listing.bucket_uri}{listing.prefix} ({files_text(count, 'object')})"
    root = short_path(listing.root)
    if listing.whole_tree:
        return f"{root} ({files_text(count)})"
    return f"{root}/{listing.paths[0]}" if count == 1 else f"{files_text(count)} in {root}"


def files_text(count: int, kind: str = "file") -> str:
    """`1 file`, `12 objects`."""
    return f"{count} {kind}{'s' * (count != 1)}"


def tree_document(tree: TreePlan) -> dict[str, Any]:
    """A folder in the document of a plan."""
    return {
        "Target": tree.target,
        "Kind": tree.staging,
        "Mode": tree.mode,
        "Writable": tree.writable,
        **_source(tree.uri, tree.listing),
        **({} if tree.reason is None else {"Reason": tree.reason}),
    }


def pipe_document(pipe: PipePlan) -> dict[str, Any]:
    """A Pipe channel in the document of a plan."""
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


def _mapped_sources(plan: JobPlan, work: Workload) -> str | None:
    mapped = [
        f"{channel.uri} from {channel.listing.root}"
        for channel in inputs(plan)
        if channel.uri.startswith(("s3://", "https://")) and not channel.listing.remote
    ]
    return f"read from this machine through Local.Sources: {some(mapped)}" if mapped else None


def _own_credentials(plan: JobPlan, work: Workload) -> str | None:
    read = [channel.uri for channel in inputs(plan) if channel.listing.remote]
    return f"read from S3 with your own credentials, not those of RoleArn: {some(read)}" if read else None


def _download_fails(plan: JobPlan, work: Workload) -> str | None:
    failing = [f"{c.name}: {c.listing.failure}" for c in inputs(plan) if c.listing.failure is not None]
    return f"the download will fail as on the service: {some(failing)}" if failing else None


def _file_systems(plan: JobPlan, work: Workload) -> str | None:
    mounted = [f"{c.uri} is {c.listing.root}" for c in plan.trees if c.mode == "FileSystem"]
    return f"local folders are mounted in place of file systems, without a copy: {some(mounted)}" if mounted else None


def _file_system_vpc(plan: JobPlan, work: Workload) -> str | None:
    mounted = [c.uri for c in plan.trees if c.mode == "FileSystem"]
    if not mounted or work.in_vpc:
        return None
    return f"a job that mounts a file system needs a VpcConfig on the service: {some(mounted)}"


def _fastfile_downloaded(plan: JobPlan, work: Workload) -> str | None:
    whole = [f"{c.name} ({c.reason})" for c in plan.trees if c.mode == "FastFile" and c.reason is not None]
    return (
        f"downloaded completely before the start and mounted read-only, not streamed: {some(whole)}" if whole else None
    )


def _fastfile_sharded(plan: JobPlan, work: Workload) -> str | None:
    sharded = [channel.name for channel in work.channels if channel.mode == "FastFile" and channel.sharded]
    return f"FastFile is sharded like File mode (inferred): {some(sharded)}" if sharded else None


def _fastfile_folder(plan: JobPlan, work: Workload) -> str | None:
    folders = [channel.uri for channel in plan.trees if channel.mode == "FastFile" and _is_folder(channel.listing)]
    if not folders:
        return None
    return f"AWS documents that a FastFile folder must end with /; accepted here without it: {some(folders)}"


def _is_folder(listing: Listing) -> bool:
    """True for a prefix in S3 without `/` at its end that is not the key of an object."""
    prefix = listing.prefix
    in_s3 = listing.bucket_uri.startswith("s3://")
    return in_s3 and bool(prefix) and prefix[-1] != "/" and bool(listing.paths) and listing.key(0) != prefix


def _fastfile_converse(plan: JobPlan, work: Workload) -> str | None:
    read = [each.name for each in work.channels if each.mode == "FastFile" and each.data_type == "Converse"]
    return f"AWS documents FastFile for S3DataType S3Prefix only, not for Converse: {some(read)}" if read else None


def _shuffled(plan: JobPlan, work: Workload) -> str | None:
    shuffled = [pipe.name for pipe in plan.pipes if pipe.seed is not None]
    return f"shuffled with our own permutation; the service's is not known: {some(shuffled)}" if shuffled else None


def _shuffle_ignored(plan: JobPlan, work: Workload) -> str | None:
    piped = {pipe.name for pipe in plan.pipes}
    ignored = [each.name for each in work.channels if each.seed is not None and each.name not in piped]
    return f"ShuffleConfig has no effect outside Pipe mode (inferred): {some(ignored)}" if ignored else None


def _attribute_text(plan: JobPlan, work: Workload) -> str | None:
    sent = [pipe.name for pipe in plan.pipes if pipe.attributes]
    return f"strings of an augmented manifest are sent without their quotes (inferred): {some(sent)}" if sent else None


def _unused_sources(plan: JobPlan, work: Workload) -> str | None:
    uris = [channel.uri for channel in inputs(plan)]
    # Objects named by a manifest may be anywhere, and file systems are mapped by their id.
    uris += [channel.listing.bucket_uri + channel.listing.prefix for channel in inputs(plan)]
    uris += [tree.uri.partition(":")[0] for tree in plan.trees if tree.mode == "FileSystem"]
    if any(pipe.attributes for pipe in plan.pipes):
        return None
    if plan.mirrored.checkpoints is not None:
        uris.append(plan.mirrored.checkpoints.uri)
    uris += [each.uri for each in plan.mirrored.collectors]
    for rule in work.rules:
        uris += rule_locations(rule.parameters)
    folders = {key: key.rstrip("/") for key in work.local.Sources}
    unused = [
        key for key, folder in folders.items() if not any(u == folder or u.startswith(f"{folder}/") for u in uris)
    ]
    return f"unused entries of Local.Sources: {some(unused)}" if unused else None


def _modes(plan: JobPlan, work: Workload) -> str | None:
    trees = [tree.name for tree in plan.trees if tree.staging in _IN_PLACE and tree.listing.unlike_service_modes]
    if not trees:
        return None
    return f"files in {some(trees)} keep their owner and mode; on the service they belong to root, with mode 0644"


def _empty_directories(plan: JobPlan, work: Workload) -> str | None:
    trees = [tree.name for tree in plan.trees if tree.staging in _IN_PLACE and _has_empty(tree)]
    return f"empty folders in {some(trees)} are visible; S3 has no empty folders" if trees else None


def _has_empty(tree: TreePlan) -> bool:
    # In S3 they come from folder markers, which become folders on the service too.
    return bool(tree.listing.directories) and not tree.listing.remote


def _skipped(plan: JobPlan, work: Workload) -> str | None:
    found: list[TreePlan | PipePlan] = [*_trees(plan), *plan.pipes]
    skipped = [f"{tree.name}/{reason}" for tree in found for reason in tree.listing.skipped]
    return f"skipped, not regular files: {some(skipped)}" if skipped else None


def _copied(plan: JobPlan, work: Workload) -> str | None:
    copied = [f"{tree.name} ({tree.reason})" for tree in _trees(plan) if tree.staging == "copy" and tree.reason]
    return f"copied before the start, not mounted copy-on-write: {some(copied)}" if copied else None


def _no_renames(plan: JobPlan, work: Workload) -> str | None:
    shown = [tree.name for tree in _trees(plan) if tree.staging == "overlay"] if plan.engines.first.rootless else []
    return f"the engine is rootless: existing folders in {some(shown)} cannot be renamed" if shown else None


def _trees(plan: JobPlan) -> Iterator[TreePlan]:
    yield from plan.trees
    if plan.inputs.code is not None:
        yield plan.inputs.code


def _sample(plan: JobPlan, work: Workload) -> str | None:
    if work.local.Sample is None:
        return None
    cut = [f"{each.name} (without {each.listing.left_out:,})" for each in inputs(plan) if each.listing.left_out]
    cut += [f"{pipe.name} (lines of its manifest)" for pipe in plan.pipes if pipe.lines is not None]
    if not cut:
        return f"Local.Sample has no effect: no channel has more than {work.local.Sample:,} objects"
    count = work.local.Sample
    first = "only the first object is" if count == 1 else f"only the first {count:,} objects are"
    return f"{first} taken (Local.Sample) of {some(cut)}; the service takes all"


INPUT_RULES = (
    NoteRule(id="download-fails", says=_download_fails, warning=True),
    NoteRule(id="sample", says=_sample, warning=True),
    NoteRule(id="file-system-vpc", says=_file_system_vpc, warning=True),
    NoteRule(id="mapped-sources", says=_mapped_sources),
    NoteRule(id="sources-unused", says=_unused_sources),
    NoteRule(id="s3-credentials", says=_own_credentials),
    NoteRule(id="file-systems", says=_file_systems),
    NoteRule(id="fastfile-downloaded", says=_fastfile_downloaded),
    NoteRule(id="fastfile-sharded", says=_fastfile_sharded),
    NoteRule(id="fastfile-folder", says=_fastfile_folder),
    NoteRule(id="fastfile-converse", says=_fastfile_converse),
    NoteRule(id="shuffle-order", says=_shuffled),
    NoteRule(id="shuffle-ignored", says=_shuffle_ignored),
    NoteRule(id="attribute-text", says=_attribute_text),
    NoteRule(id="staging-copied", says=_copied),
    NoteRule(id="staging-renames", says=_no_renames, warning=True),
    NoteRule(id="channel-modes", says=_modes),
    NoteRule(id="channel-empty-folders", says=_empty_directories),
    NoteRule(id="channel-skipped", says=_skipped),
)
