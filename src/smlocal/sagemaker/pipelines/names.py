"""The names that an execution gives: its own, and those of what its steps make."""

import hashlib
from typing import Final

from smlocal.base.regex import regex
from smlocal.sagemaker.pipelines.definition import Step

ID_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
ID_LENGTH: Final = 12
"""Of the id of an execution."""
SUFFIX_LENGTH: Final = 10
"""Of what makes a name unique: letters of both cases, and digits."""
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + ID_LETTERS
_OF_STEP: Final = 20
"""Characters of a step's name that public names of jobs have."""
_OF_SEARCH: Final = 7
"""Names of tuning jobs have at most 32 characters: no `pipelines-`, and less of the step."""
_NOT_IN_NAMES: Final = regex(r"[^A-Za-z0-9]+")


def made_name(step: Step, *, execution_id: str, suffix: str) -> str:
    """The name of the job, or of another resource, that an attempt of a step makes."""
    search = step.type.name == "Tuning"
    said = _NOT_IN_NAMES.sub("-", step.name)[: _OF_SEARCH if search else _OF_STEP].strip("-")
    parts = [execution_id, said, suffix] if search else ["pipelines", execution_id, said, suffix]
    return "-".join(filter(None, parts))


def letters_of(text: str, length: int) -> str:
    """Letters and digits that follow from a text, and look like chance."""
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


def display_name(milliseconds: int) -> str:
    """The display name of an execution that was given none."""
    return f"execution-{milliseconds}"


def execution_arn(pipeline_arn: str, execution_id: str) -> str:
    """The ARN of an execution."""
    return f"{pipeline_arn}/execution/{execution_id}"


def made_id(randomness: bytes) -> str:
    """The id of an execution."""
    number = int.from_bytes(randomness)
    letters = []
    for _ in range(ID_LENGTH):
        number, left = divmod(number, len(ID_LETTERS))
        letters.append(ID_LETTERS[left])
    return "".join(letters)
