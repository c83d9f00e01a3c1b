"""The request as it was made, without what looks like a secret: a page is sent around."""

from collections.abc import Mapping
from typing import Any

from smlocal.plan.secret_names import looks_secret

WITHHELD = "(withheld)"
_FREE = ("HyperParameters", "Environment")
"""Maps whose names are the user's own."""


def shown_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """A copy to be shown."""
    shown = {key: _withheld(value) if key in _FREE else value for key, value in request.items()}
    if isinstance(request.get("Tags"), list):
        shown["Tags"] = [_tag(tag) for tag in request["Tags"]]
    return shown


def _withheld(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    return {name: WITHHELD if value and looks_secret(name) else value for name, value in given.items()}


def _tag(tag: Any) -> Any:
    if isinstance(tag, Mapping) and tag.get("Value") and looks_secret(str(tag.get("Key", ""))):
        return {**tag, "Value": WITHHELD}
    return tag
