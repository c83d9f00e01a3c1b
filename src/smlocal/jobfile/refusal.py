"""Everything that is wrong with a job file, as one error with a line for each mistake."""

from collections.abc import Iterator

from smlocal.contract.coverage.members import TABLE, Support
from smlocal.contract.validation.violation import Violation
from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document


def invalid_request(document: Document, violations: list[Violation]) -> RequestInvalidError:
    """One error for all of them, in the order of the file."""
    from smlocal.contract.validation.wording import one_line  # only after a mistake

    described = [(document.where(violation.path), violation) for violation in violations]
    width = max(len(where) for where, _ in described)
    described.sort(key=lambda one: document.nearest_line(one[1].path) or 0)
    service = list(dict.fromkeys(violation.service for _, violation in described if violation.service))
    number = len(described)
    message = ""
    if service:
        message = f"{len(service)} validation error{'s' if len(service) > 1 else ''} detected: {'; '.join(service)}"
    return RequestInvalidError(
        f"{number} problem{'s' if number > 1 else ''} in {document.blamed(violation.path for violation in violations)}",
        details=[f"{where:<{width}}   {one_line(violation.text)}" for where, violation in described],
        service_message=message,
    )


def unsupported_request(document: Document, found: list[tuple[str, Violation]]) -> FieldRefusedError:
    """One error for everything that is refused."""
    from smlocal.contract.validation.wording import one_line  # only after a mistake

    names = list(dict.fromkeys(name for name, _ in found))
    places = [(document.where(violation.path), one_line(violation.text)) for _, violation in found]
    width = max(len(where) for where, _ in places)
    who = document.blamed(violation.path for _, violation in found)
    return FieldRefusedError(
        f"{who} uses what smlocal does not support: {', '.join(names)}",
        details=[f"{where:<{width}}   {text}" for where, text in places],
        remedy=[*_remedies(names), "smlocal coverage shows how each field is handled."],
    )


def _remedies(names: list[str]) -> Iterator[str]:
    """For a value: which others are possible; a member as a whole can only be left out."""
    whole = [name for name in names if not TABLE[name].values]
    for name in names:
        possible = [word for word, value in TABLE[name].values.items() if value.support is not Support.REFUSED]
        if possible:
            yield f"Use {' or '.join(possible)} for {name}."
        elif name not in whole:
            whole.append(name)
    if whole:
        yield f"Remove {'it' if names == whole[:1] else ', '.join(whole)} to run the job here."
