"""Where a request has its results go."""

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.output.plan import OutputFacts, OutputPlan
from smlocal.jobs.planning.workload import AskedOutput


def output_of(asked: AskedOutput, local: LocalSettings, facts: OutputFacts, name: str) -> OutputPlan:
    """Where artifacts go."""
    return OutputPlan(
        uri=asked.uri,
        model_uri=model_uri(asked, facts.folder, name),
        directory=f"{facts.folder.rstrip('/')}/{name}",
        compression=asked.compression,
        merge_output=local.MergeOutput,
        publish=local.Publish and is_remote_output(asked.uri),
        kms_key=asked.kms_key,
        free=facts.free,
    )


def model_uri(asked: AskedOutput, folder: str, name: str) -> str:
    """S3ModelArtifacts of a job whose artifacts go to this local folder; empty if it has none."""
    if not asked.uri:
        return ""
    base = asked.uri.rstrip("/") if is_remote_output(asked.uri) else f"file://{folder}"
    return f"{base}/{name}/output/{'model/' if asked.compression == 'NONE' else 'model.tar.gz'}"


def is_remote_output(uri: str) -> bool:
    """True if the results are to be in S3: here they go to a folder that the request does not name."""
    return uri.startswith(("s3://", "https://"))
