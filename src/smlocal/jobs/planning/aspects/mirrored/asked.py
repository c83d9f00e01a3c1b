"""Which folders a request has mirrored, and to where."""

from collections.abc import Mapping

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.mirrored.plan import (
    TENSORS,
    CheckpointPlan,
    CollectorPlan,
    MirroredFacts,
    MirroredPlan,
)
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.contract.paths import container_path, is_own_mount
from smlocal.terms.checkpoints import folder_key
from smlocal.terms.listing import s3_form


def mirrored_of(
    request: CreateTrainingJobRequest, local: LocalSettings, facts: MirroredFacts, *, output: str, name: str
) -> MirroredPlan:
    """The folders that are mirrored while the job runs. `output`: the job's own folder for results."""
    return MirroredPlan(
        checkpoints=_checkpoints(request, local, facts, output=output),
        collectors=_collectors(request, facts.collectors, name=name, output=output, publish=local.Publish),
    )


def _checkpoints(
    request: CreateTrainingJobRequest, local: LocalSettings, facts: MirroredFacts, *, output: str
) -> CheckpointPlan | None:
    """Where checkpoints are; None without CheckpointConfig."""
    config, listing = request.CheckpointConfig, facts.checkpoints
    if config is None or listing is None:
        return None
    local_path = container_path(config.LocalPath)
    return CheckpointPlan(
        member="CheckpointConfig",
        uri=config.S3Uri,
        directory=listing.root or f"{output}/checkpoints",
        local_path=local_path,
        own_mount=is_own_mount(local_path),
        listing=listing,
        s3_prefix=f"{listing.bucket_uri}{folder_key(listing.prefix)}" if local.Publish and listing.remote else None,
    )


def _collectors(
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
