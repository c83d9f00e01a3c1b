"""Where a value is in a request: keys and list indexes from the top."""

from typing import Any

Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """`InputDataConfig[0].ChannelName`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def spoken(path: Path) -> str:
    """The same, with lists counted as the service counts them: `InputDataConfig.1.member.ChannelName`.

    The service's own sentences stand in the same error, and one list must not be counted in two ways.
    """
    return ".".join(f"{step + 1}.member" if isinstance(step, int) else step for step in path)


def kind_of(value: Any) -> str:
    """What a reader of the file would call it."""
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "a map"}
    return kinds.get(type(value), type(value).__name__)
