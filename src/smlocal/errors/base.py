"""The base class of errors, and the two kinds of errors that prevent a job."""

from collections.abc import Sequence
from typing import ClassVar


class SmlocalError(Exception):
    """An error that a user can cause or meet. It is printed without a traceback."""

    id: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def __init__(self, sentence: str, *, details: Sequence[str] = (), remedy: Sequence[str] = ()) -> None:
        """Keep the sentence, the lines that show where, and the lines that say what to do."""
        super().__init__(sentence)
        self.sentence = sentence
        self.details = tuple(details)
        self.remedy = tuple(remedy)
        self.command = ""
        """A command that may succeed instead. It is shown last, on one line, to be pasted."""

    @property
    def with_details(self) -> str:
        """The sentence and the details as one text."""
        return "; ".join([self.sentence, *self.details])


class RequestRefusedError(SmlocalError):
    """The service would refuse this at creation, or the command line is wrong: no job is made."""

    exit_code = 2


class MachineNotReadyError(SmlocalError):
    """This machine lacks something that the job needs, found before the start: no job is made."""

    exit_code = 3
