"""A request as the services send it back: 64-bit numbers are strings, and what is false, 0 or empty is left out."""

from collections.abc import Mapping
from typing import Any

from smlocal.platforms.ai_platform.model.members import JobKind, is_structure, members


def stored_form(kind: JobKind, structure: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a structure in the JSON of the service."""
    known = members(kind, structure)
    return {name: _stored(kind, known[name].type, value) for name, value in data.items() if value or value == {}}


def _stored(kind: JobKind, type_name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_stored(kind, type_name, item) for item in value]
    if is_structure(kind, type_name):
        return stored_form(kind, type_name, value)
    return str(value) if type_name == "int64" else value


def snake_case(value: Any) -> Any:
    """The same data with keys such as `worker_count`."""
    if isinstance(value, dict):
        return {snake_name(key): snake_case(item) for key, item in value.items()}
    return [snake_case(item) for item in value] if isinstance(value, list) else value


def snake_name(name: str) -> str:
    """`workerCount` to `worker_count`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
