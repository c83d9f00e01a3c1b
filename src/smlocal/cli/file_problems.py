"""What an error says about the lines of a file, for editors and CI services."""

import re

from smlocal.contract.secrets.masking import without_passwords
from smlocal.errors import SmlocalError
from smlocal.quick_dataclass import dataclass

_LINE = re.compile(r":(\d+)(?::\d+)?(?=\s|$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileProblem:
    """One problem."""

    line: int
    """0 where the error names none."""
    text: str


def file_problems(error: SmlocalError, file: str | None) -> list[FileProblem]:
    """One for each line of the file that the error names; one with everything where it names none."""
    details = [without_passwords(detail) for detail in error.details if file and detail.startswith(file)]
    lines = filter(None, (_LINE.match(detail, len(file or "")) for detail in details))
    problems = [FileProblem(line=int(found[1]), text=found.string[found.end() :].strip()) for found in lines]
    everything = without_passwords("\n".join((error.sentence, *error.details, *error.remedy)))
    return problems or [FileProblem(line=0, text=everything)]
