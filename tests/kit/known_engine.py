"""The memory of smlocal about engines and images in its home: each test has a new home, and would find it out again."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

_OF_A_HOME = "engines.json"
"""By a key whose last word is the home."""
_OF_AN_IMAGE = "images.json"


class KnownEngine:
    """A folder that all processes of one test run share."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder

    def give(self, home: Path) -> None:
        """Let a new home know it too."""
        engines = {f"{key} {home}": found for key, found in _read(self._folder / _OF_A_HOME).items()}
        for name, known in ((_OF_A_HOME, engines), (_OF_AN_IMAGE, _read(self._folder / _OF_AN_IMAGE))):
            if known:
                home.mkdir(mode=0o700, exist_ok=True)
                (home / name).write_text(json.dumps(known))

    def learn(self, home: Path) -> None:
        """Keep what a home knows in the end."""
        end = f" {home}"
        engines = {key.removesuffix(end): found for key, found in _read(home / _OF_A_HOME).items() if key.endswith(end)}
        self._add(_OF_A_HOME, engines)
        self._add(_OF_AN_IMAGE, _read(home / _OF_AN_IMAGE))

    def _add(self, name: str, found: dict[str, Any]) -> None:
        path = self._folder / name
        known = _read(path)
        if found.keys() - known.keys():
            draft = path.with_name(f"{name}.{os.getpid()}")
            draft.write_text(json.dumps({**known, **found}))
            draft.replace(path)


def _read(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    return {}
