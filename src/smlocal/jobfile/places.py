"""Where the parts of a parsed job file are."""

from collections.abc import Mapping
from typing import Protocol

from smlocal.contract.validation.member_path import Path


class Places(Protocol):
    """Where the parts of a parsed text stand; only asked when something is wrong."""

    def lines(self) -> Mapping[Path, int]:
        """Path to line, counted from 1; a key's line where there is a key."""

    def texts(self) -> "Mapping[Path, str]":
        """Path to the text of a number or another plain value, as it was written."""
