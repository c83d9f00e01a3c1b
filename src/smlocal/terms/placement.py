"""The setting `Local.Placement`: on which engine each host runs."""

from typing import Any, Final

from smlocal.terms.validation.violation import closest

SPREAD: Final = "spread"
"""The first host on the first engine, the second on the second, and so on, again and again."""
PlacementChoice = str | dict[str, str]
"""A valid value of `Local.Placement`: the word, or the engine of each host."""
_FORMS: Final = f"{SPREAD}, or a map with the engine of each host"

SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"enum": [SPREAD]},
        {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string", "minLength": 1}},
    ]
}


def placement_trouble(value: Any) -> str | None:
    """The mistake in a value of `Local.Placement`; None if it is valid."""
    if isinstance(value, str):
        meant = f": did you mean {SPREAD}?" if closest(value, [SPREAD]) else ""
        return None if value == SPREAD else f"is {value!r} and must be {_FORMS}{meant}"
    if not isinstance(value, dict) or not value:
        return f"must be {_FORMS}"
    wrong = next((host for host, engine in value.items() if not isinstance(engine, str) or not engine), None)
    return None if wrong is None else f"has {wrong}: {value[wrong]!r}, and must have the engine of {wrong} as a string"
