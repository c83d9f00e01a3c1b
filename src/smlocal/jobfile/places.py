"""Where the parts of a parsed job file are."""

from collections.abc import Mapping
from typing import Protocol

from smlocal.contract.validation.member_path import Path


class Places(Protocol):
    """The lines of the parts of a parsed text; used only if there is a mistake."""

    def lines(self) -> Mapping[Path, int]:
        """Path to line, counted from 1; for a part with a key, the key's line."""

    def texts(self) -> "Mapping[Path, str]":
        """Path to the text of a number or another plain value, as it is in the file."""
