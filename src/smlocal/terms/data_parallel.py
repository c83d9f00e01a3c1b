"""The setting `Local.DataParallel`: whether containers get the stand-in for the library, and how it works."""

from typing import Any, Final

from smlocal.terms.validation.violation import closest

DataParallelChoice = str | dict[str, Any]
"""A valid value of `Local.DataParallel`."""
WORDS: Final = ("auto", "always", "never", "strict")
MODES: Final = ("plain", "balanced")
_MEMBERS: Final = ("Mode", "FusionBufferBytes")
_MOST: Final = 1 << 40
_FORMS: Final = f"{', '.join(WORDS)}, or a block with {' and '.join(_MEMBERS)}"

SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"enum": list(WORDS)},
        {
            "type": "object",
            "properties": {
                "Mode": {"enum": list(MODES)},
                "FusionBufferBytes": {"type": "integer", "minimum": 1, "maximum": _MOST},
            },
            "additionalProperties": False,
            "minProperties": 1,
        },
    ]
}


def data_parallel_trouble(value: Any) -> str | None:
    """The mistake in a value of `Local.DataParallel`; None if it is valid."""
    if isinstance(value, str):
        return None if value in WORDS else f"is {value!r} and must be {_FORMS}{_meant(value, WORDS)}"
    if not isinstance(value, dict) or not value:
        return f"must be {_FORMS}"
    found = (_trouble_of_member(str(name), given) for name, given in value.items())
    said = next((trouble for trouble in found if trouble is not None), None)
    if said is None and "FusionBufferBytes" in value and value.get("Mode") != "balanced":
        return "has FusionBufferBytes, which only Mode: balanced uses"
    return said


def _trouble_of_member(name: str, given: Any) -> str | None:
    if name not in _MEMBERS:
        return f"has {name!r}, which it does not know{_meant(name, _MEMBERS)}"
    if name == "Mode" and given not in MODES:
        return f"has Mode {given!r}, which must be {' or '.join(MODES)}{_meant(str(given), MODES)}"
    if name == "FusionBufferBytes" and (type(given) is not int or not 1 <= given <= _MOST):
        return f"has FusionBufferBytes {given!r}, which must be a number of bytes, 1 or more"
    return None


def _meant(given: str, known: tuple[str, ...]) -> str:
    meant = closest(given, known)
    return f": did you mean {meant}?" if meant else ""
