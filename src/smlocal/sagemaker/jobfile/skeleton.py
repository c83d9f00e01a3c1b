"""A skeleton of the AWS CLI where a job file is expected: members to fill in, and members to remove.

Empty members of a request are left out: empty answers of the service, placeholders of the skeleton.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import RequestInvalidError, RequestSkeletonError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.terms.model.structure import Structure, members, split
from smlocal.terms.validation.violation import Path, dotted

_RESOURCES: Final = "ResourceConfig"
_NEEDED: Final = (
    ("AlgorithmSpecification", "TrainingImage"),
    ("OutputDataConfig", "S3OutputPath"),
    (_RESOURCES, "InstanceType"),
    (_RESOURCES, "InstanceCount"),
)
"""The members that every job with a container has; the name and the role may be missing."""
_GROUPS: Final = "InstanceGroups"
_WITHOUT_CONTAINER: Final = "ServerlessJobConfig"
_EMPTY: Final = object()
_PLACEHOLDER = "KeyName"
"""The one key in each map of a skeleton."""
_LEAST = 3
"""So many empty texts make a skeleton. A request of a program may have one, such as a KmsKeyId."""

_WITH_EMPTY_TEXTS = ("HyperParameters", "Environment", "Tags")
"""Values in these may well be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """A request without its empty members."""

    request: dict[str, Any]
    left_out: tuple[str, ...]
    """Paths of the members that are empty."""
    untouched: tuple[str, ...] = ()
    """The default switches and choices of a skeleton, which may be unintended."""


def or_skeleton(document: Document, request: dict[str, Any], invalid: RequestInvalidError) -> RequestInvalidError:
    """The error for a skeleton in place of `invalid`, in which each empty member is wrong in two or three ways."""
    if not is_skeleton(request):
        return invalid
    filled = without_empty(request, skeleton=True)
    needed = [path for path in _NEEDED if _is_needed(path, request, filled.request)]
    details = [*_needed_lines(document, needed), *_empty_lines(document, filled, needed)]
    if not details:  # the empty texts are in members that no request has
        return invalid
    return RequestSkeletonError(
        f"{document.name} is a skeleton of a request: {len(filled.left_out)} members are empty",
        details=details,
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
        return ["Leave out empty members."]  # it is not a file
    file = "-" if document.name == "stdin" else document.name
    shorter = f"smlocal fetch {file} --file new-job.yaml"
    if filled_in:
        return [f"A job file without empty members:  {shorter}"]
    return [f"When these are filled in, a job file without empty members:  {shorter}"]


def is_skeleton(request: Mapping[str, Any]) -> bool:
    """Whether this is what `aws sagemaker create-training-job --generate-cli-skeleton` prints, perhaps filled in."""
    return sum(_empty_texts(value) for name, value in request.items() if name not in _WITH_EMPTY_TEXTS) >= _LEAST


def _empty_texts(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(map(_empty_texts, value.values()))
    return sum(map(_empty_texts, value)) if isinstance(value, list) else int(value == "")


def without_empty(request: Mapping[str, Any], *, skeleton: bool) -> Filled:
    """The request without empty members.

    In a skeleton, numbers that are 0 and members that only have choices are left out too.
    """
    walk = _Walk(skeleton=skeleton)
    kept: dict[str, Any] = walk.structure(CreateTrainingJobRequest, request, ())
    left_out = [path for path in walk.left_out if not any(path[:size] in walk.left_out for size in range(1, len(path)))]
    untouched = [f"{dotted(path)}: {_word(value)}" for path, value in walk.choices if _has(kept, path)]
    return Filled(
        request=kept,
        left_out=tuple(map(dotted, dict.fromkeys(left_out))),
        untouched=tuple(untouched) if skeleton else (),
    )


class _Walk:
    def __init__(self, *, skeleton: bool) -> None:
        self.skeleton = skeleton
        self.left_out: dict[Path, None] = {}
        self.choices: list[tuple[Path, Any]] = []

    def structure(self, model: type[Structure], given: Mapping[str, Any], path: Path) -> Any:
        known = members(model)
        kept: dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                kept[name] = value
                continue
            inner = self.value(known[name].present, value, (*path, name))
            if inner is not _EMPTY:
                kept[name] = inner
            elif self.skeleton or not known[name].is_required:
                self.left_out[(*path, name)] = None
            else:
                kept[name] = value
        if not path:
            return kept
        if self.skeleton:
            lost = any(
                member.is_required and given.get(name) is not None and name not in kept
                for name, member in known.items()
            )
            return _EMPTY if lost or not any(_written(kept[name], known[name].present) for name in kept) else kept
        return kept or _EMPTY

    def value(self, annotation: Any, value: Any, path: Path) -> Any:
        kind, limits = split(annotation)
        if value is None or value == "":
            return _EMPTY
        if isinstance(kind, type) and issubclass(kind, Structure):
            return self.structure(kind, value, path) if isinstance(value, Mapping) else value
        if isinstance(value, list):
            return self.items(get_args(kind), value, path, needed=bool(getattr(limits, "minimum", 0)))
        if isinstance(value, Mapping):
            return self.map(value)
        if self.skeleton and _is_choice(annotation, value):
            self.choices.append((path, value))
        return _EMPTY if self.skeleton and value == 0 and not isinstance(value, bool) else value

    def items(self, kinds: tuple[Any, ...], value: list[Any], path: Path, *, needed: bool) -> Any:
        """A list; an empty one stays if the service takes it."""
        if self.skeleton:
            kept = [self.value(kinds[0] if kinds else None, item, (*path, i)) for i, item in enumerate(value)]
            return [item for item in kept if item is not _EMPTY] or _EMPTY
        if not value:
            return _EMPTY if needed else value
        kind = split(kinds[0])[0] if kinds else None
        if not (isinstance(kind, type) and issubclass(kind, Structure)):
            return value
        kept = [
            self.structure(kind, item, (*path, i)) if isinstance(item, Mapping) else item
            for i, item in enumerate(value)
        ]
        return [value[i] if item is _EMPTY else item for i, item in enumerate(kept)]

    def map(self, value: Mapping[str, Any]) -> Any:
        if not self.skeleton:
            return value
        return {key: item for key, item in value.items() if (key, item) != (_PLACEHOLDER, "")} or _EMPTY


def _written(value: Any, annotation: Any) -> bool:
    """Whether somebody has filled this in; a structure has been looked through already."""
    return isinstance(value, dict | list) or not _is_choice(annotation, value)


def _is_choice(annotation: Any, value: Any) -> bool:
    """A switch, or one word of several: every skeleton has them."""
    return isinstance(value, bool) or get_origin(split(annotation)[0]) is Literal


def _has(request: Any, path: Path) -> bool:
    for step in path:
        try:
            request = request[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
