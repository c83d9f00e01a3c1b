"""The request as it was made, without what looks like a secret: a page is sent around."""

from collections.abc import Mapping
from typing import Any

from smlocal.contract.secrets.masking import masked_request, with_strings
from smlocal.contract.secrets.urls import HIDDEN

WITHHELD = "(withheld)"


def shown_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """A copy to be shown; in words, as fonts elsewhere may not have the sign that terminals show."""
    shown: dict[str, Any] = with_strings(masked_request(request), lambda _, text: text.replace(HIDDEN, WITHHELD))
    return shown
