"""Where the results of a job go."""

from smlocal.base.quick_dataclass import dataclass


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
