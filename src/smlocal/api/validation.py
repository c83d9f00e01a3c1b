"""What can be said about a job file without an engine and without the network."""

from typing import TYPE_CHECKING

from smlocal.errors import SmlocalError
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from smlocal.jobfile.document import Document
    from smlocal.platforms.job_files import AnyJobFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Validated:
    """One job file."""

    file: str
    error: SmlocalError | None
    """None for a job that `smlocal run` accepts."""
    warnings: tuple[str, ...] = ()
    """Local paths that do not exist: whoever checks a file need not have its data."""


def validate_file(path: str, *, strict: bool, prepare: "Callable[[Document], None]" = lambda _: None) -> Validated:
    """Validate one job file; `-` is standard input. `strict`: as it is, the service would accept it.

    `prepare` may change the document first.
    """
    from smlocal.api.job_source import read_document, read_file, read_standard_input
    from smlocal.api.overrides import Overrides
    from smlocal.platforms.job_files import absent_paths, is_replica_job, read_replica_job

    job: AnyJobFile
    file = "stdin" if path == "-" else path
    try:
        document = read_standard_input() if path == "-" else read_file(path)
        if is_replica_job(document.data):
            job, _ = read_replica_job(document, name=None, stem="job", strict=strict, local_allowed=not strict)
        else:
            prepare(document)
            job, _ = read_document(
                document, Overrides(), path=None, fill_in=False, strict=strict, local_allowed=not strict
            )
        warnings = tuple(absent_paths(job))
    except SmlocalError as error:
        return Validated(file=file, error=error)
    return Validated(file=file, error=None, warnings=warnings)
