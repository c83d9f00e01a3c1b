"""Requests without their secrets, for whatever people read: `smlocal plan`, its script, reports, errors.

The documents that programs read (`--json`, `--service`, `--report`) keep them, as the service's answer does.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from smlocal.contract.secrets.names import looks_secret
from smlocal.contract.secrets.urls import HIDDEN, without_passwords

# Strings, compiled at their first use.
_PAIR = (
    r"""(?<![\w.-])(?:-{0,2}(?P<name>[A-Za-z_][\w.-]*)["']?[ \t]*[=:]|--(?P<option>[A-Za-z][\w.-]*)(?=[ \t]+[^\s-]))"""
    r"""[ \t]*(?P<value>"[^"]*|'[^']*|[^\s,;]+)"""
)
_REFERENCE = r"""["']?\$[A-Za-z_{]"""
"""A value that the shell is to fill in."""


def masked(name: str, value: str) -> str:
    """The value of a variable, hyperparameter or tag as it may be shown."""
    if looks_secret(name, value):
        return HIDDEN
    if value[:1] in ("{", "["):
        try:
            document = json.loads(value)
        except (ValueError, RecursionError):
            return without_passwords(value)
        shown = masked_tree(document)
        return value if shown == document else json.dumps(shown, ensure_ascii=False)
    return without_passwords(value)


def masked_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request as it may be shown."""
    shown: dict[str, Any] = masked_tree(request)
    specification = request.get("AlgorithmSpecification")
    for name in ("ContainerEntrypoint", "ContainerArguments"):
        if isinstance(specification, Mapping) and specification.get(name):
            shown["AlgorithmSpecification"][name] = masked_words(specification[name])
    return shown


def masked_tree(tree: Any) -> Any:
    """Any document as it may be shown."""
    return with_strings(tree, masked)


def masked_file(path: str, content: bytes) -> bytes:
    """A file of `/opt/ml` as it may be shown."""
    if not path.endswith(".json"):
        return content
    from smlocal.contract.documents.config_files import compact

    document = json.loads(content)
    shown = masked_tree(document)
    return content if shown == document else compact(shown)


def with_strings(tree: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """A copy of a document in which every string is what `change` makes of its name and itself."""
    if isinstance(tree, Mapping):
        if tree.keys() == {"Key", "Value"} and isinstance(tree["Value"], str):
            return {"Key": tree["Key"], "Value": change(str(tree["Key"]), tree["Value"])}
        return {key: with_strings(value, change, str(key)) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [with_strings(item, change, name) for item in tree]
    return change(name, tree) if isinstance(tree, str) else tree


def masked_words(words: Sequence[str]) -> list[str]:
    """The words of a command as they may be shown."""
    shown: list[str] = []
    option = ""
    for word in words:
        hidden = option and not word.startswith("-") and looks_secret(option, word)
        shown.append(HIDDEN if hidden else masked_text(word))
        option = word.lstrip("-") if word.startswith("-") and "=" not in word else ""
    return shown


def masked_text(text: str) -> str:
    """Shell, YAML or JSON as it may be shown: where a secret is given a value, the rest of the line is hidden.

    Where the value ends is for another parser to say, and the text may be no good to it.
    """
    return "\n".join(map(_masked_line, without_passwords(text).split("\n")))


def _masked_line(line: str) -> str:
    at, pairs = 0, re.compile(_PAIR)
    while (match := pairs.search(line, at)) is not None:
        value, at = match["value"], match.start("value")
        if re.match(_REFERENCE, value) is None and looks_secret(match["name"] or match["option"], value.strip("'\"")):
            return line[:at] + HIDDEN
    return line
