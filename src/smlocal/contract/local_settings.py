"""What only makes sense on this machine: the `Local` block of a job file, which the service never sees."""

from typing import Annotated, Literal

from pydantic import Field

from smlocal.contract.model.constraints import Items, Structure, Text, Whole

_Path = Annotated[str, Text(minimum=1)]
_Grace = Annotated[int, Whole(minimum=0, maximum=120)]


class LocalSettings(Structure):
    """The `Local` block; relative paths in it are relative to the job file."""

    Sources: Annotated[dict[_Path, _Path], Items()] = Field(default_factory=dict)
    """Local folder for each `s3://` prefix or file-system id."""
    Output: _Path | None = None
    """Where output meant for `s3://` goes."""
    Code: _Path | None = None
    """Folder that fills `/opt/ml/code`."""
    Staging: Literal["overlay", "copy"] | None = None
    Region: _Path | None = None
    PeerGraceSeconds: _Grace = 10
    """How long the other hosts get once one has failed; inferred, the service does not say."""
    StopGraceSeconds: _Grace = 120
    """Between SIGTERM and SIGKILL."""
    Topology: bool = False
    """Write `topology` (null) into resourceconfig.json, as the service has since 2025."""
    MergeOutput: bool = False
    """Make output.tar.gz of the output of all hosts."""
    AllowCpu: bool = False
    """Run a GPU instance type without a GPU."""
    Pull: Literal["missing", "always", "never"] = "missing"
