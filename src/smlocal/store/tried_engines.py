"""What was found out about engines by trying it, by their identity, so that it is tried once."""

import os
from collections.abc import Mapping
from typing import Any

from smlocal.base.remembered import Remembered

_MOST = 200


def tried(home: str, key: str) -> Mapping[str, Any] | None:
    """What is remembered; None if there is no entry."""
    found: Mapping[str, Any] | None = _engines(home).get(key)
    return found


def remember_tried(home: str, key: str, found: Mapping[str, Any]) -> None:
    """Store an entry. If that fails, or another process writes at the same time, the next job tries again."""
    _engines(home).put(key, dict(found))


def _engines(home: str) -> Remembered:
    return Remembered(os.path.join(home, "engines.json"), most=_MOST, kind=dict)
