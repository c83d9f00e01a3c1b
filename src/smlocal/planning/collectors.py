"""TensorBoard's logs and the debugger's tensors: where the containers write them, and where they are mirrored to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from smlocal.contract import paths
from smlocal.contract.checkpoints import container_path, is_own_mount
from smlocal.contract.s3_uri import s3_form
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.contract.model.request import CreateTrainingJobRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectorPlan:
    """A folder that every host finds empty, and whose files are mirrored while the job runs."""

    name: str
    member: str
    """Of the request."""
    uri: str
    """As the request says it."""
    directory: str
    """The local folder that it is mirrored to; it need not exist. Where S3 is, for what S3 did not take."""
    kept: bool
    """True when that is in the job's output, because nothing here stands for the URI."""
    s3_prefix: str | None
    """With a `/` at its end; where it is mirrored to, instead of the folder, when that is published."""
    local_path: str
    """Folder in the container, in its plainest spelling."""
    grows: bool
    """True for logs that stay open to the end."""

    @property
    def own_mount(self) -> bool:
        """False where LocalPath lies in a folder that is mounted anyway."""
        return is_own_mount(self.local_path)


def collectors_of(
    request: "CreateTrainingJobRequest", folders: Mapping[str, str], *, name: str, output: str, publish: bool
) -> tuple[CollectorPlan, ...]:
    """Those that the request asks for; `folders` has, by member, what stands for its S3OutputPath here."""
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
        ("DebugHookConfig", request.DebugHookConfig, "tensors", paths.TENSORS, "debug-output", False),
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
