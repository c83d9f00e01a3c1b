"""Hold a request against the models, and make one error of everything that is wrong with it."""

from typing import Any, TypeVar, get_args

from smlocal.jobfile.document import Document, Path
from smlocal.contract.model.constraints import split
from smlocal.contract.model.structure import Structure, member_types
from smlocal.contract.validation.walk import violations
from smlocal.contract.validation.violation import Violation
from smlocal.errors import RequestInvalidError

Model = TypeVar("Model", bound=Structure)


def validate(
    model: type[Model], data: Any, *, strict: bool, path: Path = (), document: Document | None = None
) -> tuple[Model | None, list[Violation]]:
    """The data as a model, or everything that is wrong with it; a `path` says that it is a block of our own.

    The `document` it is from knows how numbers were written.
    """
    known = {} if document is None else {"written": document.written}
    found = violations(model, data, strict=strict, path=path, **known)
    return (None, found) if found else (_made(model, data), [])


def _made(annotation: Any, value: Any) -> Any:
    """Structures and lists and maps anew, so that nobody else can change them."""
    kind, _ = split(annotation)
    if value is None:
        return None
    if isinstance(kind, type) and issubclass(kind, Structure):
        types = member_types(kind)
        return kind(**{name: _made(types[name], item) for name, item in value.items()})
    if isinstance(value, list):
        return [_made(get_args(kind)[0], item) for item in value]
    return dict(value) if isinstance(value, dict) else value


def refusal(document: Document, violations: list[Violation]) -> RequestInvalidError:
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


def missing(path: Path) -> Violation:
    """A required member that is not there."""
    from smlocal.contract.validation.wording import NOT_NULL, member_name, sentence  # only after a mistake

    place = ".".join(f"{step + 1}.member" if isinstance(step, int) else member_name(step) for step in path)
    text = sentence(None, place, NOT_NULL)
    return Violation(path=path, text=text, service=text)
