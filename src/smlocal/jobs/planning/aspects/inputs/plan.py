"""The inputs of a job's hosts: channels as folders and as FIFOs, code, and how they get into the containers."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import EngineFacts
from smlocal.jobs.planning.workload import AskedChannel, Workload
from smlocal.terms.channels import PipePlan, Staging, TreePlan
from smlocal.terms.hosts import Host
from smlocal.terms.listing import WHOLE, Listing, Shard

_REASONS_SHOWN = 2
_NO_OVERLAYS = "overlays are not known to work in this place"
_NO_RENAMES = "with a rootless overlay its folders cannot be renamed; Local.Staging overlay allows that"


@dataclass(frozen=True, kw_only=True, slots=True)
class InputFacts:
    """The inputs of a job, listed once."""

    listings: Mapping[str, Listing]
    """By channel name."""
    file_systems: Mapping[str, Listing] = field(default_factory=dict)
    """The folder used instead of a file system, by channel name; its files are not listed."""
    code: Listing | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local.Sources with absolute folders."""
    only_s3: frozenset[str] = frozenset()
    """Names of channels whose manifests may name no files of this machine."""
    no_fuse: str | None = None
    """Why objects in S3 cannot be streamed through FUSE; None if they can."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostInputs:
    """The inputs of one host."""

    trees: tuple[TreePlan, ...] = ()
    """The channels that are folders."""
    pipes: tuple[PipePlan, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class InputsPlan:
    """The inputs of all hosts of a job, beside their channels."""

    code: TreePlan | None = None
    cache_bytes: int = 0
    """The size of the download cache; 0: no cache."""


def delivered_bytes(trees: tuple[TreePlan, ...]) -> int:
    """The bytes that channels take of the volume on the service, where File mode data is downloaded to it."""
    return sum(tree.listing.total_bytes or 0 for tree in trees if tree.mode == "File")


def choose_staging(
    listing: Listing,
    requested: Staging | None,
    *,
    fast_file: bool = False,
    no_fuse: str | None = None,
    shared: bool = True,
    rootless: bool = False,
    restricted: bool = False,
) -> tuple[Staging, str | None]:
    """Return the staging, and why it is not the default (None if it is, or if the user requested it).

    A selection that is not a whole folder is first collected in a folder of its own, as regular files, so links and
    mounts around it do not matter. `shared` is False for an engine that does not see this machine's folders. In the
    overlays of a `rootless` engine folders cannot be renamed, so they are used only on request. The engine of a place
    may be `restricted` to less: then nothing is an overlay.
    """
    if not shared:
        return "send", no_fuse if fast_file and listing.remote else None
    if fast_file:
        if listing.remote:
            return ("fuse", None) if no_fuse is None else ("bind", no_fuse)
        return "bind", None
    if requested != "copy" and listing.whole_tree and listing.copy_reasons:
        shown = "; ".join(listing.copy_reasons[:_REASONS_SHOWN])
        more = len(listing.copy_reasons) - _REASONS_SHOWN
        return "copy", f"{shown}; and {more} more" if more > 0 else shown
    if (restricted and requested != "copy") or (rootless and requested is None):
        return "copy", _NO_OVERLAYS if restricted else _NO_RENAMES
    return requested or "overlay", None


_AUGMENTED = "AugmentedManifestFile"


def trees_of(work: Workload, host: Host, *, facts: InputFacts, engine: EngineFacts) -> tuple[TreePlan, ...]:
    """The channels that are folders on one host."""
    return tuple(
        _tree(channel, _shard(channel, host, work.hosts), work=work, facts=facts, engine=engine)
        for channel in work.channels
        if channel.mode != "Pipe" and channel.is_for(host)
    )


def pipes_of(work: Workload, host: Host, *, facts: InputFacts) -> tuple[PipePlan, ...]:
    """The Pipe channels of one host."""
    return tuple(
        _pipe(channel, _shard(channel, host, work.hosts), work, facts)
        for channel in work.channels
        if channel.mode == "Pipe" and channel.is_for(host)
    )


def _shard(channel: AskedChannel, host: Host, hosts: tuple[Host, ...]) -> Shard:
    if not channel.sharded:
        return WHOLE
    names = [each.name for each in hosts if channel.is_for(each)]
    return Shard(index=names.index(host.name), count=len(names))


def _tree(channel: AskedChannel, shard: Shard, *, work: Workload, facts: InputFacts, engine: EngineFacts) -> TreePlan:
    if channel.file_system is not None:
        return TreePlan(
            name=channel.name,
            uri=channel.uri,
            target=channel.target,
            listing=facts.file_systems[channel.name],
            staging="bind",
            reason=None,
            mode="FileSystem",
            writable=channel.file_system.writable,
        )
    listing = facts.listings[channel.name].dealt_to(shard)
    fast = channel.mode == "FastFile"
    staging, reason = choose_staging(
        listing,
        work.local.Staging,
        fast_file=fast,
        no_fuse=facts.no_fuse,
        shared=engine.shares_folders,
        rootless=engine.rootless,
        restricted=engine.place is not None,
    )
    return TreePlan(
        name=channel.name,
        uri=channel.uri,
        target=channel.target,
        listing=listing,
        staging=staging,
        reason=reason,
        mode=channel.mode,
        writable=not fast,
    )


def _pipe(channel: AskedChannel, shard: Shard, work: Workload, facts: InputFacts) -> PipePlan:
    return PipePlan(
        name=channel.name,
        uri=channel.uri,
        target=channel.target,
        listing=facts.listings[channel.name],
        shard=shard,
        record_io=channel.record_io,
        gzip=channel.gzip,
        seed=channel.seed,
        attributes=channel.attributes,
        sources=facts.sources,
        rights=work.local.rights,
        lines=work.local.Sample if channel.data_type == _AUGMENTED else None,
        names_files=channel.name not in facts.only_s3,
    )


def code_of(work: Workload, facts: InputFacts, engine: EngineFacts) -> TreePlan | None:
    """The content of the folder for code; None without Local.Code."""
    code, local = facts.code, work.local
    if code is None:
        return None
    staging, reason = choose_staging(
        code,
        local.Staging,
        shared=engine.shares_folders,
        rootless=engine.rootless,
        restricted=engine.place is not None,
    )
    return TreePlan(name="code", uri=local.Code or "", target=work.code, listing=code, staging=staging, reason=reason)
