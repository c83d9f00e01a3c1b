"""A skeleton of the AWS CLI where a job file is expected: what to fill in, and what to remove."""

from collections.abc import Iterator
from typing import Any, Final

from smlocal.errors import RequestInvalidError, RequestSkeletonError
from smlocal.jobfile.document import Document
from smlocal.platforms.sagemaker.jobfile.empty_members import Filled, is_skeleton, without_empty

_RESOURCES: Final = "ResourceConfig"
_NEEDED: Final = (
    ("AlgorithmSpecification", "TrainingImage"),
    ("OutputDataConfig", "S3OutputPath"),
    (_RESOURCES, "InstanceType"),
    (_RESOURCES, "InstanceCount"),
)
"""Of every job with a container; the name and the role need not be there."""
_GROUPS: Final = "InstanceGroups"
_WITHOUT_CONTAINER: Final = "ServerlessJobConfig"


def or_skeleton(document: Document, request: dict[str, Any], invalid: RequestInvalidError) -> RequestInvalidError:
    """The error for a skeleton in place of `invalid`, in which each empty member is wrong in two or three ways."""
    if not is_skeleton(request):
        return invalid
    filled = without_empty(request, skeleton=True)
    needed = [path for path in _NEEDED if _is_needed(path, request, filled.request)]
    return RequestSkeletonError(
        f"{document.name} is a skeleton of a request: {len(filled.left_out)} members are empty",
        details=[*_needed_lines(document, needed), *_empty_lines(document, filled, needed)],
        remedy=_remedy(document, filled_in=not needed),
        service_message=invalid.service_message,
    )


def _is_needed(path: tuple[str, str], request: dict[str, Any], filled: dict[str, Any]) -> bool:
    if _WITHOUT_CONTAINER in filled:
        return False
    member, name = path
    given = request.get(member)
    has_groups = member == _RESOURCES and (filled.get(member) or {}).get(_GROUPS)
    return not has_groups and not (isinstance(given, dict) and given.get(name))


def _needed_lines(document: Document, needed: list[tuple[str, str]]) -> Iterator[str]:
    yield from (f"{document.where(path)}   fill in {'.'.join(path)}" for path in needed)


def _empty_lines(document: Document, filled: Filled, needed: list[tuple[str, str]]) -> Iterator[str]:
    """A line for each member of the request that is empty in part, and one for those that are empty as a whole."""
    wanted = {".".join(path) for path in needed}
    of_needed = {member for member, _ in needed}
    parts: dict[str, list[str]] = {}
    for path in filled.left_out:
        member, _, rest = path.partition(".")
        if path not in wanted and (rest or member not in of_needed):
            parts.setdefault(member, []).append(rest)
    whole = [member for member, names in parts.items() if "" in names]
    for member, names in parts.items():
        if member not in whole:
            yield f"{document.where((member,))}   fill in or remove, of {member}: {', '.join(names)}"
    if whole:
        yield f"{document.name}   fill in or remove: {', '.join(whole)}"


def _remedy(document: Document, *, filled_in: bool) -> list[str]:
    if document.nearest_line((next(iter(document.data)),)) is None:
        return ["Leave out what is empty."]  # it is no file
    file = "-" if document.name == "stdin" else document.name
    shorter = f"smlocal fetch {file} --file new-job.yaml"
    if filled_in:
        return [f"A job file without what is empty:  {shorter}"]
    return [f"When these are filled in, a job file without what is empty:  {shorter}"]
