"""The reason for which a rule is skipped."""


class CannotLookError(Exception):
    """What a rule judges by is not there or cannot be read; the text says what, as a clause without a full stop."""

    def __init__(self, text: str, details: tuple[str, ...] = ()) -> None:
        """`details`: lines that say more, such as the end of a job's log."""
        super().__init__(text)
        self.details = details
