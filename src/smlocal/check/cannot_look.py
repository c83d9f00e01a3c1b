"""The reason for which a rule is skipped."""

JOB_FILE_NEEDED = "write a job file, and check that"
"""The remedy where an image does not say enough by itself."""


class CannotLookError(Exception):
    """The data that a rule needs is missing or cannot be read; the text says what, as a clause without a full stop."""

    def __init__(self, text: str, details: tuple[str, ...] = (), *, test: str = "") -> None:
        """`details`: lines that say more, such as the end of a job's log.

        `test`: the step that lets the rule judge, as a clause; empty where it has nothing to judge in this job.
        """
        super().__init__(text)
        self.details = details
        self.test = test
