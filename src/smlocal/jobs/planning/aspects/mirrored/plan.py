"""The folders that are mirrored while a job runs: checkpoints, TensorBoard logs, and the debugger's tensors."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.workload import AskedFolder, Workload
from smlocal.terms.checkpoints import folder_key
from smlocal.terms.listing import Listing, s3_form

TENSORS = "tensors"
END_OF_TENSORS = "training_job_end.ts"
"""The file that the debugger's library looks for. In a job it leaves the file to the platform."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredFacts:
    """The folders that are mirrored while a job runs."""

    checkpoints: Listing | None = None
    """The objects of the checkpoint prefix; None if checkpoints are not saved."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """The local folder used instead of a location, by the name of the mirrored folder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectorPlan:
    """A folder, empty at the start, whose files are mirrored while the job runs."""

    name: str
    member: str
    """The member of the request."""
    uri: str
    """As written in the request."""
    directory: str
    """The local folder that it is mirrored to; it need not exist. When publishing, it takes what S3 refused."""
    kept: bool
    """True if the folder is in the job's output, because the URI is not mapped to a local folder."""
    s3_prefix: str | None
    """The prefix in S3, with `/` at its end, that it is mirrored to when publishing; else None."""
    local_path: str
    """The folder in the container, normalized."""
    grows: bool
    """True for logs that are open and written to until the end."""
    own_mount: bool
    """False if that folder is in another that is mounted anyway."""
    continuous: bool = True
    """False if it is saved at the end of the job only."""

    @property
    def end_marker(self) -> str | None:
        """The empty file that says that no more files follow; None if readers do not ask for one."""
        return END_OF_TENSORS if self.name == TENSORS else None


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointPlan:
    """Where checkpoints are restored from and saved to."""

    member: str
    """The member of the request."""
    uri: str
    """As written in the request."""
    directory: str
    """The local folder used instead of the prefix; it need not exist. When publishing, it takes what S3 refused."""
    local_path: str
    """The folder in the container, normalized."""
    listing: Listing
    """The files to restore; may be empty."""
    own_mount: bool
    """False if that folder is in another that is mounted anyway."""
    s3_prefix: str | None = None
    """The prefix in S3, with `/` at its end, that files are mirrored to when publishing; else None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredPlan:
    """The folders that are mirrored while a job runs."""

    checkpoints: CheckpointPlan | None = None
    collectors: tuple[CollectorPlan, ...] = ()

    @property
    def empty(self) -> bool:
        """True for a job that mirrors nothing."""
        return self.checkpoints is None and not self.collectors

    @property
    def published(self) -> tuple[tuple[str, str], ...]:
        """The members of the request whose files are mirrored to S3, with their prefixes."""
        found = [(each.member, each.s3_prefix) for each in self.collectors]
        if self.checkpoints is not None:
            found.insert(0, (self.checkpoints.member, self.checkpoints.s3_prefix))
        return tuple((member, prefix) for member, prefix in found if prefix is not None)


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
    """`folder`: the local folder in place of the location, if any."""
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
