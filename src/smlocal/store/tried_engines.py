"""What was found out about engines by trying it, by their identity, so that it is tried once."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

_MOST = 200
"""Entries; the oldest are removed first."""


def tried(home: str, key: str) -> Mapping[str, Any] | None:
    """What is remembered; None if there is no entry."""
    return _read(home).get(key)


def remember_tried(home: str, key: str, found: Mapping[str, Any]) -> None:
    """Store an entry. If that fails, or another process writes at the same time, the next job tries again."""
    path = _path(home)
    draft = f"{path}.{os.getpid()}.partial"
    known = _read(home)
    known.pop(key, None)
    known[key] = found
    with suppress(OSError):
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(dict(list(known.items())[-_MOST:]), file)
        os.replace(draft, path)


def _read(home: str) -> dict[str, Mapping[str, Any]]:
    """All entries; none if the file is damaged."""
    with suppress(OSError, ValueError, RecursionError), open(_path(home), encoding="utf-8") as file:
        found = json.load(file)
        if isinstance(found, dict):
            return {key: each for key, each in found.items() if isinstance(each, dict)}
    return {}


def _path(home: str) -> str:
    return os.path.join(home, "engines.json")
