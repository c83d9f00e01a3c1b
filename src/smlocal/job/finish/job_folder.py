"""Copies of a job's documents in its folder, for people and for tools that read files; the store has the originals."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

DESCRIBE = "describe"
_DRAFT = ".partial"


def _of_its_owner(path: str, flags: int) -> int:
    """A request may hold secrets: nobody else may read it, even in a folder that was opened to others."""
    return os.open(path, flags, 0o600)


def keep(directory: str, kind: str, document: Any) -> None:
    """Write `request.json`, `plan.json` or `describe.json`; a job does not fail for want of a copy."""
    path = os.path.join(directory, f"{kind}.json")
    draft = f"{path}{_DRAFT}"
    with suppress(OSError):
        with open(draft, "w", encoding="utf-8", opener=_of_its_owner) as file:
            json.dump(document, file, indent=2)
        os.replace(draft, path)


def is_whole(directory: str) -> bool:
    """False for the folder of a job that ended while its last copy was written, or before."""
    return os.path.exists(os.path.join(directory, f"{DESCRIBE}.json")) and not any(_drafts(directory))


def remove_drafts(directory: str) -> None:
    """Remove copies and logs that a process that was killed has half written; only for the job's supervisor."""
    for path in _drafts(directory):
        with suppress(OSError):
            os.unlink(path)


def _drafts(directory: str) -> Iterator[str]:
    for folder in (directory, os.path.join(directory, "logs")):
        with suppress(OSError):
            yield from (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(_DRAFT))
