"""The limits of a container, and the settings for them, which are written as for docker."""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.validation.violation import closest

Size = int | str
Ulimits = dict[str, int | str]
_SIZE: Final = r"(\d{1,15})\s*(?:([kmgt])(?:i?b)?|b)?"
_UNITS: Final = {None: 0, "k": 10, "m": 20, "g": 30, "t": 40}
_LEAST = 6 << 20
"""Docker's minimum."""
_LARGEST = 1 << 50
_CPUS: Final = (0.01, 10_000)
"""Docker's minimum, and a maximum."""
_ULIMIT: Final = r"(-1|\d{1,19})(?::(-1|\d{1,19}))?"
_ULIMITS: Final = (
    *("core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio"),
    *("rttime", "sigpending", "stack"),
)

SIZE_SCHEMA: Final[dict[str, Any]] = {"type": ["integer", "string"]}
CPUS_SCHEMA: Final[dict[str, Any]] = {"type": "number", "exclusiveMinimum": 0}
ULIMITS_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "propertyNames": {"enum": list(_ULIMITS)},
    "additionalProperties": {"type": ["integer", "string"]},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The limits of one container; None is the engine's default."""

    memory: int | None = None
    """Bytes, without additional swap, as on the service."""
    cpus: float | None = None
    shared_memory: int | None = None
    """Bytes of /dev/shm."""
    ulimits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Soft and hard limits by name."""
    processes: int | None = None
    """Processes and threads."""
    disk: int | None = None
    """Bytes of checkpoints, model and output together."""


def read_size(value: Size) -> int | None:
    """The bytes of `64m`, `2g`, `2GiB` or a number; None if it is not a size."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    found = re.fullmatch(_SIZE, str(value).strip(), re.ASCII | re.IGNORECASE)
    return None if found is None else int(found[1]) << _UNITS[found[2] and found[2].lower()]


def _size_trouble(value: Any, least: int) -> str | None:
    size = read_size(value)
    if size is None:
        return f"is {value!r} and must be a size: bytes, or a number with k, m, g or t, such as 512m"
    return None if least <= size <= _LARGEST else f"is {value} and must be between {least} bytes and 1024t"


def memory_trouble(value: Any) -> str | None:
    """The mistake in `Local.Memory`."""
    return _size_trouble(value, _LEAST)


def shared_memory_trouble(value: Any) -> str | None:
    """The mistake in `Local.ShmSize`."""
    return _size_trouble(value, 1)


def cpus_trouble(value: Any) -> str | None:
    """The mistake in `Local.Cpus`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _CPUS[0] <= value <= _CPUS[1]:
        return f"is {value!r} and must be a number of processors of at least 0.01, such as 1.5"
    return None


def read_ulimit(value: int | str) -> tuple[int, int] | None:
    """The soft and hard limit in `1024`, `1024:2048` or `-1` (unlimited); None if it is not valid."""
    found = None if isinstance(value, bool) else re.fullmatch(_ULIMIT, str(value), re.ASCII)
    if found is None:
        return None
    soft = int(found[1])
    return soft, int(found[2]) if found[2] is not None else soft


def ulimits_trouble(value: Any) -> str | None:
    """The mistake in `Local.Ulimits`."""
    if not isinstance(value, dict):
        return "must be a map such as {nofile: 65536}"
    for name, limit in value.items():
        if name not in _ULIMITS:
            meant = closest(name, _ULIMITS)
            return f"has the unknown limit {name!r}{f': did you mean {meant}?' if meant else ''}"
        pair = read_ulimit(limit) if isinstance(limit, int | str) else None
        if pair is None:
            return f"has {name}: {limit!r}, which is not a valid limit: write 1024, or '1024:2048', or -1"
        soft, hard = pair
        if hard != -1 and (soft > hard or soft == -1):
            return f"has {name}: {limit!r}, whose soft limit is above the hard one"
    return None
