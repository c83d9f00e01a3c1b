"""Hold a request against the models, and make one error of everything that is wrong with it."""

from typing import Any, TypeVar

from pydantic import ValidationError

from smlocal.contract.document import Document, Path, dotted
from smlocal.contract.model.constraints import Structure
from smlocal.contract.model.fast import validator
from smlocal.errors import RequestInvalidError
from smlocal.quick_dataclass import dataclass

Model = TypeVar("Model", bound=Structure)


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """One thing that is wrong."""

    path: Path
    text: str
    """One line for a screen."""
    service: str | None = None
    """The service's sentence, where it has one."""


def validate(model: type[Model], data: Any, *, strict: bool, path: Path = ()) -> tuple[Model | None, list[Violation]]:
    """The validated model, or everything that is wrong with the data; a `path` says that it is a block of our own."""
    try:
        valid: Model = validator(model).validate_python(data, context={"strict": True} if strict else None)
    except ValidationError as error:
        from smlocal.contract.validation_walk import violations  # only after a mistake

        return None, violations(model, data, strict=strict, path=path) or [_unexplained(error, path)]
    return valid, []


def refusal(document: Document, violations: list[Violation]) -> RequestInvalidError:
    """One error for all of them, in the order of the file."""
    from smlocal.contract.validation_wording import one_line  # only after a mistake

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
    from smlocal.contract.validation_wording import NOT_NULL, member_name, sentence  # only after a mistake

    place = ".".join(f"{step + 1}.member" if isinstance(step, int) else member_name(step) for step in path)
    text = sentence(None, place, NOT_NULL)
    return Violation(path=path, text=text, service=text)


def _unexplained(error: ValidationError, path: Path) -> Violation:
    first = error.errors(include_url=False, include_context=False)[0]
    where = (*path, *first["loc"])
    return Violation(path=where, text=f"{dotted(where)}: {first['msg']}")
