"""Everything that is wrong with a job file, as one error with a line for each mistake."""

from collections.abc import Iterator

from smlocal.contract.coverage.members import TABLE, Support
from smlocal.contract.validation.violation import Violation
from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document

_MOST_LINES = 30
"""Of one error, so that it stays a page."""
_LONGEST_LINE = 800
"""Characters of one of them: a key may be as long as the file."""


def invalid_request(document: Document, violations: list[Violation]) -> RequestInvalidError:
    """One error for all of them, in the order of the file."""
    ordered = sorted(violations, key=lambda violation: document.nearest_line(violation.path) or 0)
    service = list(dict.fromkeys(violation.service for violation in ordered if violation.service))
    number = len(ordered)
    message = ""
    if service:
        message = f"{len(service)} validation error{'s' if len(service) > 1 else ''} detected: {'; '.join(service)}"
    return RequestInvalidError(
        f"{number} problem{'s' if number > 1 else ''} in {document.blamed(violation.path for violation in violations)}",
        details=_lines(document, ordered),
        service_message=message,
    )


def unsupported_request(document: Document, found: list[tuple[str, Violation]]) -> FieldRefusedError:
    """One error for everything that is refused."""
    names = list(dict.fromkeys(name for name, _ in found))
    who = document.blamed(violation.path for _, violation in found)
    return FieldRefusedError(
        f"{who} uses what smlocal does not support: {', '.join(names)}",
        details=_lines(document, [violation for _, violation in found]),
        remedy=[*_remedies(names), "smlocal coverage shows how each field is handled."],
    )


def _lines(document: Document, violations: list[Violation]) -> list[str]:
    """A line for each of the first violations, and the number of the others."""
    from smlocal.contract.validation.wording import one_line  # only after a mistake

    shown = [(document.where(violation.path), one_line(violation.text)) for violation in violations[:_MOST_LINES]]
    width = max(len(where) for where, _ in shown)
    lines = [f"{where:<{width}}   {_shortened(text)}" for where, text in shown]
    more = len(violations) - len(shown)
    return [*lines, f"… and {more:,} more"] if more else lines


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"


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
