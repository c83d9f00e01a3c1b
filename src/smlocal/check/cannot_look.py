"""The reason for which a rule is skipped."""

from smlocal.errors import RequestRefusedError, SmlocalError

JOB_FILE_NEEDED = "write a job file, and check that"
"""The remedy where an image does not say enough by itself."""
NOT_READY = 3
"""The exit code of commands for a machine that cannot run a job."""


class CannotLookError(Exception):
    """The data that a rule needs is missing or cannot be read; the text says what, as a clause without a full stop."""

    def __init__(self, text: str, details: tuple[str, ...] = (), *, test: str = "", code: int = 0) -> None:
        """`details`: lines that say more, such as the end of a job's log.

        `test`: the step that lets the rule judge, as a clause; empty where it has nothing to judge in this job.

        `code`: the exit code of the command, where nothing was run because of the request or of this machine.
        """
        super().__init__(text)
        self.details = details
        self.test = test
        self.code = code


def code_of(error: SmlocalError) -> int:
    """The exit code of a check whose job or endpoint was not made: the request is wrong, or this machine is not ready.

    An error that would end a job that runs is about this machine too.
    """
    return error.exit_code if isinstance(error, RequestRefusedError) else NOT_READY
