"""Where TensorBoard logs and the debugger's tensors are written, and where they are mirrored to."""

from smlocal.quick_dataclass import dataclass

TENSORS = "tensors"
END_OF_TENSORS = "training_job_end.ts"
"""What the debugger's library looks for. In a job it leaves the file to the platform."""


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

    @property
    def end_marker(self) -> str | None:
        """The empty file that says that no more files follow; None if readers do not ask for one."""
        return END_OF_TENSORS if self.name == TENSORS else None
