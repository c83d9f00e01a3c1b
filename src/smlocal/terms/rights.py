"""The rights of a job on this machine."""

from smlocal.base.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Rights:
    """A job of a client of the endpoint is limited; one of the user may use whatever the user may."""

    folders: tuple[str, ...] | None = None
    """The absolute folders in which its local paths must lie; None for all. Links below them are not followed."""
    buckets: tuple[str, ...] | None = None
    """The buckets that it may use in S3, with the user's AWS credentials; None for all."""

    @property
    def links(self) -> bool:
        """True if links in the folders that the job names are followed: they are the user's own."""
        return self.folders is None

    def covers_bucket(self, name: str) -> bool:
        """False if the job may not use this bucket of S3."""
        return self.buckets is None or name in self.buckets


EVERYTHING = Rights()
"""The rights of the user's own jobs and commands."""
