"""Where a request has its results go."""

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.output.plan import OutputFacts, OutputPlan
from smlocal.sagemaker.contract.model.request import OutputDataConfig


def output_of(asked: OutputDataConfig, local: LocalSettings, facts: OutputFacts, name: str) -> OutputPlan:
    """Where artifacts go."""
    return OutputPlan(
        uri=asked.S3OutputPath,
        model_uri=model_uri(asked, facts.folder, name),
        directory=f"{facts.folder.rstrip('/')}/{name}",
        compression=asked.CompressionType or "GZIP",
        merge_output=local.MergeOutput,
        publish=local.Publish and is_remote_output(asked),
        kms_key=asked.KmsKeyId,
        free=facts.free,
    )


def model_uri(asked: OutputDataConfig, folder: str, name: str) -> str:
    """S3ModelArtifacts of a job whose artifacts go to this local folder."""
    base = asked.S3OutputPath.rstrip("/") if is_remote_output(asked) else f"file://{folder}"
    return f"{base}/{name}/output/{'model/' if asked.CompressionType == 'NONE' else 'model.tar.gz'}"


def is_remote_output(asked: OutputDataConfig) -> bool:
    """True if S3OutputPath is in S3, and the artifacts go to a folder that it does not name."""
    return asked.S3OutputPath.startswith(("s3://", "https://"))
