"""Every mistake in a job file, as one error with a line for each."""

from smlocal.errors import RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.terms.validation.violation import Violation
from smlocal.terms.validation.walk import MOST_VIOLATIONS
from smlocal.terms.validation.wording import one_line

_MOST_SENTENCES = 100
"""The most sentences of the service's message."""
_MOST_LINES = 30
"""The most lines of one error, so that it fits on a page."""
_LONGEST_LINE = 800
"""The most characters of one line: a key may be as long as the file."""


def invalid_request(document: Document, violations: list[Violation]) -> RequestInvalidError:
    """One error for all of them, in the order of the file."""
    ordered = sorted(violations, key=lambda violation: document.nearest_line(violation.path) or 0)
    service = list(dict.fromkeys(violation.service for violation in ordered if violation.service))
    number = len(ordered)
    message = ""
    if service:
        shown = "; ".join(service[:_MOST_SENTENCES])
        message = f"{len(service)} validation error{'s' if len(service) > 1 else ''} detected: {shown}"
    least = "at least " if number >= MOST_VIOLATIONS else ""  # looking for them ends there
    where = document.blamed(violation.path for violation in violations)
    return RequestInvalidError(
        f"{least}{number:,} problem{'s' * (number > 1)} in {where}",
        details=mistake_lines(document, ordered),
        service_message=message,
    )


def mistake_lines(document: Document, violations: list[Violation]) -> list[str]:
    """A line for each of the first violations, and the number of the others."""
    shown = [(document.where(violation.path), one_line(violation.text)) for violation in violations[:_MOST_LINES]]
    width = max(len(where) for where, _ in shown)
    lines = [f"{where:<{width}}   {_shortened(text)}" for where, text in shown]
    more = len(violations) - len(shown)
    return [*lines, f"… and {more:,} more"] if more else lines


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"
