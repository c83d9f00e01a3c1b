"""Where TensorBoard logs and the debugger's tensors are written, and where they are mirrored to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from smlocal.contract import paths
from smlocal.contract.checkpoints import container_path, is_own_mount
from smlocal.contract.s3_uri import s3_form
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.contract.model.request import CreateTrainingJobRequest

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

    @property
    def own_mount(self) -> bool:
        """False if LocalPath is in a folder that is mounted anyway."""
        return is_own_mount(self.local_path)

    @property
    def end_marker(self) -> str | None:
        """The empty file that says that no more files follow; None if readers do not ask for one."""
        return END_OF_TENSORS if self.name == TENSORS else None


def collectors_of(
    request: "CreateTrainingJobRequest", folders: Mapping[str, str], *, name: str, output: str, publish: bool
) -> tuple[CollectorPlan, ...]:
    """The collectors of a request; `folders` has the local folder used instead of S3OutputPath, by member."""
    found = []
    for member, config, kind, default, prefix, grows in (
        (
            "TensorBoardOutputConfig",
            request.TensorBoardOutputConfig,
            "tensorboard",
            paths.TENSORBOARD,
            "tensorboard-output",
            True,
        ),
        ("DebugHookConfig", request.DebugHookConfig, TENSORS, paths.TENSORS, "debug-output", False),
    ):
        if config is None:
            continue
        folder = folders.get(member)
        remote = s3_form(config.S3OutputPath)
        published = publish and folder is None and remote.startswith("s3://")
        found.append(
            CollectorPlan(
                name=kind,
                member=member,
                uri=config.S3OutputPath,
                directory=f"{output}/{prefix}" if folder is None else f"{folder.rstrip('/')}/{name}/{prefix}",
                kept=folder is None,
                s3_prefix=f"{remote.rstrip('/')}/{name}/{prefix}/" if published else None,
                local_path=container_path(config.LocalPath or default),
                grows=grows,
            )
        )
    return tuple(found)
