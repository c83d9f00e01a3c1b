"""Paths of this machine in a description of a job: the service never has any, so they are refused."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from smlocal.data.sources.local_path import is_remote
from smlocal.errors import PathInDescriptionError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.terms.model.structure import Items, Structure, Text, member_types, split
from smlocal.terms.validation.violation import Path, dotted

_MOST_SHOWN = 20
_LONGEST = 200


def locations(request: Any, kind: type[Structure] = CreateTrainingJobRequest) -> Iterator[tuple[Path, str]]:
    """Every location in a request, which need not be valid: members whose shape in the model may be a path here.

    A `DirectoryPath` is none: it is in the container, or below the folder that the user gives for a file system.
    """
    return _locations(kind, request, ())


def _locations(annotation: Any, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    kind, constraint = split(annotation)
    if isinstance(value, str):
        if isinstance(constraint, Text) and constraint.or_path:
            yield path, value
    elif isinstance(value, Mapping):
        if isinstance(kind, type) and issubclass(kind, Structure):
            for name, member in member_types(kind).items():
                yield from _locations(member, value.get(name), (*path, name))
        elif isinstance(constraint, Items) and constraint.path_keys is not None:
            yield from _by_key(constraint.path_keys, value, path)
    elif isinstance(value, list | tuple) and get_origin(kind) is list:
        for index, item in enumerate(value):
            yield from _locations(get_args(kind)[0], item, (*path, index))


def _by_key(pattern: str, values: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    for name, item in values.items():
        if isinstance(item, str) and re.fullmatch(pattern, name):
            yield (*path, name), item


def local_locations(request: Any, kind: type[Structure] = CreateTrainingJobRequest) -> list[tuple[Path, str]]:
    """Those that are not on another machine: paths and `file://` URIs. An empty text names nothing."""
    return [(path, uri) for path, uri in locations(request, kind) if uri.strip() and not is_remote(uri)]


def refuse_local_paths(document: Document, kind: type[Structure] = CreateTrainingJobRequest) -> None:
    """`PathInDescriptionError` for a saved description with paths of this machine that the user has not given."""
    elsewhere = document.elsewhere
    if elsewhere is None or elsewhere.checked:
        return
    found = [
        (path, uri)
        for path, uri in local_locations(document.data, kind)
        if not document.is_overridden(path) and (path, uri) not in elsewhere.allowed
    ]
    if not found:
        return
    shown = [f"{document.where(path)}   {dotted(path)}: {_short(uri)}" for path, uri in found[:_MOST_SHOWN]]
    if len(found) > _MOST_SHOWN:
        shown.append(f"… and {len(found) - _MOST_SHOWN} more")
    own = elsewhere.own_job
    raise PathInDescriptionError(
        f"{document.name} is the description of a job, and names paths of this machine",
        details=shown,
        remedy=[
            *([f"It is a job of this machine:  smlocal rerun {own}   or --allow-local-paths"] if own else []),
            "Run it with folders of your own:  smlocal run FILE --channel NAME=DIR --output DIR",
            "Or write s3:// locations there: the service has no others, and anyone may have written the description.",
        ],
    )


def _short(uri: str) -> str:
    return uri if len(uri) <= _LONGEST else f"{uri[:_LONGEST]}…"
