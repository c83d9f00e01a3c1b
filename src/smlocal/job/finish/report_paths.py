"""The files that a user wants the result of a job in."""

import os

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFiles:
    """Paths that the user has chosen; absolute."""

    result: str | None = None
    """Of the describe answer."""
    junit: str | None = None

    @classmethod
    def at(cls, *, result: str | None, junit: str | None) -> "ReportFiles | None":
        """None if nothing is to be written. Paths are relative to the current folder."""
        if result is None and junit is None:
            return None
        return cls(
            result=None if result is None else os.path.abspath(result),
            junit=None if junit is None else os.path.abspath(junit),
        )

    def as_document(self) -> dict[str, str | None]:
        """To be recorded with the job."""
        return {"Result": self.result, "JUnit": self.junit}
