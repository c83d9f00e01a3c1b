"""What runs in the container of `smlocal shell`, and the errors if it cannot be started."""

import re
from collections.abc import Sequence

from smlocal.errors import EngineError, SmlocalError
from smlocal.errors.shells import CommandNotStartedError, ShellMissingError
from smlocal.quick_dataclass import dataclass

_SHELL = ("sh", "-c", "if command -v bash >/dev/null 2>&1; then exec bash; fi; exec sh")
_NOT_THERE = re.compile(
    r"executable file (?:`[^`]*` )?not found|no such file or directory|permission denied|exec format error",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """What a person wants to run."""

    command: Sequence[str]
    """Empty for a shell: bash, or sh if there is none."""
    terminal: bool

    @property
    def words(self) -> tuple[str, ...]:
        """What the container runs."""
        return tuple(self.command) or _SHELL

    def error(self, refusal: EngineError, image: str) -> SmlocalError:
        """The error to raise if the engine refused to start it."""
        if not refusal.status or not _NOT_THERE.search(refusal.sentence):
            return refusal
        if self.command:
            return CommandNotStartedError(
                f"{self.command[0]} cannot be started in the container",
                details=[refusal.sentence.strip()],
                remedy=["The command is not run by a shell: for pipes and variables write -- sh -c '...'"],
            )
        return ShellMissingError(
            f"the image {image} has no shell: neither bash nor sh",
            remedy=["To run another program of the image: smlocal shell ... -- PROGRAM"],
        )
