"""What was found out once and is worth remembering: a JSON file with a limited number of entries."""

import json
from contextlib import suppress
from typing import Any

from smlocal.base.files import replace_file


class Remembered:
    """A file that may be absent, damaged, or written by another process at the same time: then less is remembered."""

    def __init__(self, path: str, *, most: int, kind: type) -> None:
        """`most` entries are kept, those that were written last. Entries that are no `kind` are left out."""
        self._path, self._most, self._kind = path, most, kind

    def get(self, key: str) -> Any:
        """The entry; None if there is none."""
        return self._read().get(key)

    def put(self, key: str, entry: Any) -> None:
        """Store an entry. If that fails, whoever wants to know finds out again."""
        known = self._read()
        known.pop(key, None)
        known[key] = entry
        with suppress(OSError):
            replace_file(self._path, json.dumps(dict(list(known.items())[-self._most :])).encode())

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError, RecursionError), open(self._path, encoding="utf-8") as file:
            found = json.load(file)
            if isinstance(found, dict):
                return {key: entry for key, entry in found.items() if isinstance(entry, self._kind)}
        return {}
