"""What a request uses and smlocal does not support, as one error."""

from collections.abc import Iterator

from smlocal.contract.support import Support
from smlocal.contract.validation.violation import Violation
from smlocal.errors import FieldRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.refusal import mistake_lines
from smlocal.platforms.sagemaker.contract.coverage.members import TABLE


def unsupported_request(document: Document, found: list[tuple[str, Violation]]) -> FieldRefusedError:
    """One error for everything that is refused."""
    names = list(dict.fromkeys(name for name, _ in found))
    who = document.blamed(violation.path for _, violation in found)
    return FieldRefusedError(
        f"{who} uses what smlocal does not support: {', '.join(names)}",
        details=mistake_lines(document, [violation for _, violation in found]),
        remedy=[*_remedies(names), "smlocal coverage shows how each field is handled."],
    )


def _remedies(names: list[str]) -> Iterator[str]:
    """For a value, the possible values; a member without any must be removed."""
    whole = [name for name in names if not TABLE[name].values]
    for name in names:
        possible = [word for word, value in TABLE[name].values.items() if value.support is not Support.REFUSED]
        if possible:
            yield f"Use {' or '.join(possible)} for {name}."
        elif name not in whole:
            whole.append(name)
    if whole:
        yield f"Remove {'it' if names == whole[:1] else ', '.join(whole)} to run the job here."
