"""Members of a job file by their paths: `ResourceConfig.InstanceCount`, `InputDataConfig[0].InputMode`."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smlocal.errors import UsageRefusedError

if TYPE_CHECKING:
    from smlocal.contract.validation.member_path import Path
    from smlocal.jobfile.document import Document

_STEP = re.compile(r"([A-Za-z][A-Za-z0-9]*)((?:\[\d{1,4}\])*)")
_MAPS = ("HyperParameters.", "Environment.", "Local.Sources.", "Local.Endpoints.")
"""Maps whose keys are chosen by the user. The rest of a path is one key, which may have dots."""


def set_members(document: "Document", members: Mapping[str, Any]) -> None:
    """Set the values in a document; None removes one."""
    for path, value in members.items():
        document.set(member_path(path), value)


def member_path(text: str) -> "Path":
    """The place of a member from its path."""
    parent = next((each for each in _MAPS if text.startswith(each) and text != each), None)
    if parent is not None:
        return (*parent.rstrip(".").split("."), text.removeprefix(parent))
    steps: list[str | int] = []
    for part in text.split("."):
        found = _STEP.fullmatch(part)
        if found is None:
            raise UsageRefusedError(
                f"{text!r} is not the path of a member",
                remedy=["Write it like ResourceConfig.InstanceCount or InputDataConfig[0].ShuffleConfig.Seed."],
            )
        steps += [found[1], *(int(index) for index in re.findall(r"\d+", found[2]))]
    return tuple(steps)
