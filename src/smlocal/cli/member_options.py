"""`--set`: members of a job file by their paths."""

import json
from collections.abc import Sequence
from typing import Any

import click

from smlocal.jobfile.settings import OPTIONS

_TEXT = tuple(f"{OPTIONS[keyword].place[0]}." for keyword in ("hyperparameters", "environment"))
"""Their values are text, also if they look like numbers."""


def member_values(given: Sequence[str]) -> dict[str, Any]:
    """The value of each path."""
    values: dict[str, Any] = {}
    for text in given:
        path, separator, value = text.partition("=")
        if not separator or not path:
            raise click.UsageError(f"--set {text}: write PATH=VALUE.")
        values[path] = value
        if not path.startswith(_TEXT):
            try:
                values[path] = json.loads(value)
            except (ValueError, RecursionError):
                values[path] = value
    return values
