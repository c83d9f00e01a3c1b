"""One broken rule of a request, and the path of the value that breaks it."""

from typing import Any

from smlocal.base.quick_dataclass import dataclass

# Paths of values in a request: keys and list indexes.

Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """`Channels[0].Name`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def spoken(path: Path) -> str:
    """The path as the service writes it, with lists counted from 1: `Channels.1.member.Name`.

    It is used in all messages, since sentences of the service are in the same error.
    """
    return ".".join(f"{step + 1}.member" if isinstance(step, int) else step for step in path)


def kind_of(value: Any) -> str:
    """The type of a value in plain words."""
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "a map"}
    return kinds.get(type(value), type(value).__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """Where the error is, and its text."""

    path: Path
    text: str
    """One line for the terminal."""
    service: str | None = None
    """The service's sentence, if it has one."""
