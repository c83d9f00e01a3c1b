"""Which folders a job has mirrored, and to where."""

from smlocal.jobs.planning.aspects.mirrored.plan import CheckpointPlan, CollectorPlan, MirroredFacts, MirroredPlan
from smlocal.jobs.planning.workload import AskedFolder, Workload
from smlocal.terms.checkpoints import folder_key
from smlocal.terms.listing import s3_form


def mirrored_of(work: Workload, facts: MirroredFacts, *, output: str, name: str) -> MirroredPlan:
    """The folders that are mirrored while the job runs. `output`: the job's own folder for results."""
    return MirroredPlan(
        checkpoints=_checkpoints(work, facts, output=output),
        collectors=tuple(
            _collector(each, facts.folders.get(each.name), name=name, output=output, publish=work.local.Publish)
            for each in work.mirrored
        ),
    )


def _checkpoints(work: Workload, facts: MirroredFacts, *, output: str) -> CheckpointPlan | None:
    """Where checkpoints are; None for a job without."""
    asked, listing = work.checkpoints, facts.checkpoints
    if asked is None or listing is None:
        return None
    published = work.local.Publish and listing.remote
    return CheckpointPlan(
        member="CheckpointConfig",
        uri=asked.uri,
        directory=listing.root or f"{output}/checkpoints",
        local_path=asked.path,
        own_mount=asked.own_mount,
        listing=listing,
        s3_prefix=f"{listing.bucket_uri}{folder_key(listing.prefix)}" if published else None,
    )


def _collector(asked: AskedFolder, folder: str | None, *, name: str, output: str, publish: bool) -> CollectorPlan:
    """`folder`: the local folder that is used instead of the location, if there is one."""
    remote, below = s3_form(asked.uri), f"{name}/{asked.below}" if asked.below else ""
    published = publish and folder is None and remote.startswith("s3://")
    return CollectorPlan(
        name=asked.name,
        member=asked.member,
        uri=asked.uri,
        directory=f"{output}/{asked.kept_in}" if folder is None else _joined(folder, below),
        kept=folder is None,
        s3_prefix=f"{_joined(remote.rstrip('/'), below)}/" if published else None,
        local_path=asked.path,
        own_mount=asked.own_mount,
        grows=asked.grows,
        continuous=asked.continuous,
    )


def _joined(folder: str, below: str) -> str:
    return f"{folder.rstrip('/')}/{below}" if below else folder
