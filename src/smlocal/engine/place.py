"""The place where smlocal runs, if it restricts its container engine. One is known: SageMaker Studio.

In a space of Studio, the engine's socket belongs to a program of the service, which lets some calls through. What it is
known to refuse, and to allow, stands in docs/studio.md. A notebook instance has an ordinary engine.
"""

import json
import os
from typing import Final

from smlocal.engine.facts import Place

_APPS: Final = frozenset({"KernelGateway", "CodeEditor", "JupyterLab"})
_LARGEST: Final = 1 << 20


def users_home() -> str:
    """The folder below which everything is that containers of a place are known to be able to mount."""
    return os.path.realpath(os.path.expanduser("~")).rstrip("/")


def is_in_home(path: str) -> bool:
    """True for what is below that folder, through links too."""
    return os.path.realpath(path).startswith(f"{users_home()}/")


def place_of(metadata: str) -> Place | None:
    """The place that has this file; None for a machine whose engine is its own."""
    try:
        with open(metadata, "rb") as file:
            document = json.loads(file.read(_LARGEST))
    except (OSError, ValueError):
        return None
    app = document.get("AppType") if isinstance(document, dict) else None
    return Place(app=app) if isinstance(app, str) and app in _APPS else None
