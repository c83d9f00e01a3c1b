"""Where TensorBoard logs and the debugger's tensors of a request are written, and where they are mirrored to."""

from collections.abc import Mapping

from smlocal.contract.s3_uri import s3_form
from smlocal.planning.collectors import TENSORS, CollectorPlan
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.contract.checkpoint_paths import container_path, is_own_mount
from smlocal.platforms.sagemaker.contract.model.request import CreateTrainingJobRequest


def collectors_of(
    request: CreateTrainingJobRequest, folders: Mapping[str, str], *, name: str, output: str, publish: bool
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
        local_path = container_path(config.LocalPath or default)
        published = publish and folder is None and remote.startswith("s3://")
        found.append(
            CollectorPlan(
                name=kind,
                member=member,
                uri=config.S3OutputPath,
                directory=f"{output}/{prefix}" if folder is None else f"{folder.rstrip('/')}/{name}/{prefix}",
                kept=folder is None,
                s3_prefix=f"{remote.rstrip('/')}/{name}/{prefix}/" if published else None,
                local_path=local_path,
                own_mount=is_own_mount(local_path),
                grows=grows,
            )
        )
    return tuple(found)
