"""The plans of output, checkpoints and code."""

from smlocal.contract.checkpoints import folder_key
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.facts import Facts
from smlocal.planning.model import CheckpointPlan, OutputPlan, TreePlan
from smlocal.planning.staging import choose_staging
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.contract.checkpoint_paths import container_path, is_own_mount
from smlocal.platforms.sagemaker.contract.model.request import CreateTrainingJobRequest, OutputDataConfig


def output_of(request: CreateTrainingJobRequest, local: LocalSettings, facts: Facts, name: str) -> OutputPlan:
    """Where artifacts go."""
    asked = request.OutputDataConfig
    return OutputPlan(
        uri=asked.S3OutputPath,
        model_uri=model_uri(asked, facts.output, name),
        directory=f"{facts.output.rstrip('/')}/{name}",
        compression=asked.CompressionType or "GZIP",
        merge_output=local.MergeOutput,
        publish=local.Publish and is_remote_output(asked),
        kms_key=asked.KmsKeyId,
        free=facts.output_free,
    )


def model_uri(asked: OutputDataConfig, folder: str, name: str) -> str:
    """S3ModelArtifacts of a job whose artifacts go to this local folder."""
    base = asked.S3OutputPath.rstrip("/") if is_remote_output(asked) else f"file://{folder}"
    return f"{base}/{name}/output/{'model/' if asked.CompressionType == 'NONE' else 'model.tar.gz'}"


def is_remote_output(asked: OutputDataConfig) -> bool:
    """True if S3OutputPath is in S3, and the artifacts go to a folder that it does not name."""
    return asked.S3OutputPath.startswith(("s3://", "https://"))


def checkpoints_of(
    request: CreateTrainingJobRequest, local: LocalSettings, facts: Facts, *, output: str
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


def code_of(facts: Facts, local: LocalSettings) -> TreePlan | None:
    """The content of `/opt/ml/code`; None without Local.Code."""
    if facts.code is None:
        return None
    engine = facts.engine
    staging, reason = choose_staging(facts.code, local.Staging, shared=engine.shares_folders, rootless=engine.rootless)
    uri = local.Code or ""
    return TreePlan(name="code", uri=uri, target=paths.CODE, listing=facts.code, staging=staging, reason=reason)
