"""The folders that are mirrored while a job runs: checkpoints, TensorBoard logs, and the debugger's tensors."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.listing import Listing

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
    def published(self) -> tuple[tuple[str, str], ...]:
        """The members of the request whose files are mirrored to S3, with their prefixes."""
        found = [(each.member, each.s3_prefix) for each in self.collectors]
        if self.checkpoints is not None:
            found.insert(0, (self.checkpoints.member, self.checkpoints.s3_prefix))
        return tuple((member, prefix) for member, prefix in found if prefix is not None)
