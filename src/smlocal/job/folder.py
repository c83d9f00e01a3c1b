"""Copies of a job's documents in its folder, for people and for tools that read files; the store has the originals."""

import json
import os
from contextlib import suppress
from typing import Any


def _of_its_owner(path: str, flags: int) -> int:
    """A request may hold secrets: nobody else may read it, even in a folder that was opened to others."""
    return os.open(path, flags, 0o600)


def keep(directory: str, kind: str, document: Any) -> None:
    """Write `request.json`, `plan.json` or `describe.json`; a job does not fail for want of a copy."""
    path = os.path.join(directory, f"{kind}.json")
    draft = f"{path}.partial"
    with suppress(OSError):
        with open(draft, "w", encoding="utf-8", opener=_of_its_owner) as file:
            json.dump(document, file, indent=2)
        os.replace(draft, path)
