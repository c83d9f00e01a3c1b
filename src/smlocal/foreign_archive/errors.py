"""Why an archive is not read, as a clause that goes on from 'the archive cannot be read: '."""


class ArchiveError(Exception):
    """The archive is not read any further; the text says why."""


class NoTarError(ArchiveError):
    """What should be a tar archive is none, or it is damaged."""

    def __init__(self, why: str = "it is no tar archive, or it is damaged") -> None:
        super().__init__(why)


class CutShortError(ArchiveError):
    """The bytes end before they should, or what gzip has compressed is damaged."""

    def __init__(self, why: str = "it ends too early") -> None:
        super().__init__(why)


class BeyondLimitError(ArchiveError):
    """It may be an archive, but it has more of something than is read."""


class RefusedMemberError(ArchiveError):
    """One member is not unpacked, and so none is."""
