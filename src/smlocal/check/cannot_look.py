"""The reason for which a rule is skipped."""


class CannotLookError(Exception):
    """What a rule judges by is not there or cannot be read; the text says what, as a clause without a full stop."""
