"""The job's settings for the stand-in: a file beside it, and environment variables that override it."""

import json
import os
from typing import Any, Dict, NamedTuple, Optional

PLAIN, BALANCED = "plain", "balanced"
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Settings(NamedTuple):
    """The settings of one process."""

    mode: str
    fusion_buffer_bytes: Optional[int]
    strict: bool
    records: Optional[str]
    """The folder for what smlocal wants to know afterwards."""


def read_settings() -> Settings:
    """The settings; `ValueError` if a variable has a value that means nothing."""
    given: Dict[str, Any] = {}
    try:
        with open(os.path.join(_ROOT, "settings.json"), encoding="utf-8") as file:
            given = json.load(file)
    except FileNotFoundError:
        pass
    mode = os.environ.get("SMLOCAL_DDP_MODE") or given.get("Mode", PLAIN)
    if mode not in {PLAIN, BALANCED}:
        raise ValueError(f"SMLOCAL_DDP_MODE is {mode!r} and must be {PLAIN} or {BALANCED}")
    size = os.environ.get("SMLOCAL_DDP_FUSION_BUFFER_BYTES") or given.get("FusionBufferBytes")
    if size is not None and (not str(size).isdigit() or not int(size)):
        raise ValueError(f"SMLOCAL_DDP_FUSION_BUFFER_BYTES is {size!r} and must be a number of bytes, 1 or more")
    return Settings(
        mode=mode,
        fusion_buffer_bytes=None if size is None else int(size),
        strict=bool(given.get("Strict")),
        records=given.get("Records"),
    )
