"""Where the results of a job go."""

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.workload import AskedOutput


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputFacts:
    """Where artifacts go."""

    folder: str
    """The absolute local folder."""
    free: int | None = None
    """Free bytes there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputPlan:
    """Where results go."""

    uri: str
    """As written in the request."""
    model_uri: str
    """The URI of the model that the platform answers."""
    directory: str
    """The local folder that receives `output/`."""
    compression: str
    merge_output: bool
    publish: bool = False
    """Also upload to `uri`, which is in S3 then."""
    kms_key: str | None = None
    """The key that encrypts everything a job uploads."""
    free: int | None = None
    """Free bytes at that folder, if known."""


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
