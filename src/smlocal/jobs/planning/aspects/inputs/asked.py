"""How each channel of a job, and the code, is delivered to each host, and which of its objects."""

from smlocal.engine.facts import EngineFacts
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts, choose_staging
from smlocal.jobs.planning.workload import AskedChannel, Workload
from smlocal.terms.channels import PipePlan, TreePlan
from smlocal.terms.hosts import Host
from smlocal.terms.listing import WHOLE, Shard

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
    staging, reason = choose_staging(code, local.Staging, shared=engine.shares_folders, rootless=engine.rootless)
    return TreePlan(name="code", uri=local.Code or "", target=work.code, listing=code, staging=staging, reason=reason)
