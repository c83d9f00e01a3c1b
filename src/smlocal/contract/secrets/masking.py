"""Hides secrets in what people read: `smlocal plan`, its script, reports, errors.

Documents for programs (`--json`, `--service`, `--report`) contain them, as the service's response does.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from smlocal.contract.json_size import too_large
from smlocal.contract.secrets.names import looks_secret
from smlocal.contract.secrets.urls import HIDDEN, without_passwords

# Not compiled here: they are used rarely.
_PAIR = (
    r"""(?<![\w.-])(?:-{0,2}(?P<name>[A-Za-z_][\w.-]*)["']?[ \t]*[=:]|--(?P<option>[A-Za-z][\w.-]*)(?=[ \t]+[^\s-]))"""
    r"""[ \t]*(?P<value>"[^"]*|'[^']*|[^\s,;]+)"""
)
_LONGEST = 16 << 10
"""Characters of a name or a value. In a longer one nothing is looked for: it takes long, and nobody reads it."""
_DEEPEST = 100
"""Levels of a JSON value. How many Python can parse depends on its version."""
_REFERENCE = r"""["']?\$[A-Za-z_{]"""
"""A variable of the shell."""


def masked(name: str, value: str) -> str:
    """The value of a variable, hyperparameter or tag without secrets."""
    if len(name) > _LONGEST or len(value) > _LONGEST or looks_secret(name, value):
        return HIDDEN
    if value[:1] in ("{", "["):
        if too_large(value, parts=_LONGEST, levels=_DEEPEST) is not None:
            return HIDDEN
        try:
            document = json.loads(value)
            shown = masked_tree(document)
        except ValueError:
            return without_passwords(value)
        return value if shown == document else json.dumps(shown, ensure_ascii=False)
    return without_passwords(value)


def masked_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request without secrets. Any list of strings may be the words of a command."""
    shown: dict[str, Any] = _with_words(masked_tree(request))
    return shown


def _with_words(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _with_words(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return masked_words(tree) if all(isinstance(item, str) for item in tree) else [*map(_with_words, tree)]
    return tree


def masked_tree(tree: Any) -> Any:
    """A document without secrets."""
    return with_strings(tree, masked)


def masked_file(path: str, content: bytes) -> bytes:
    """A file of a job without secrets."""
    if not path.endswith(".json"):
        return content
    from smlocal.contract.compact_json import compact

    document = json.loads(content)
    shown = masked_tree(document)
    return content if shown == document else compact(shown)


def with_strings(tree: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """A copy of a document in which every string is replaced by `change(name, string)`."""
    if isinstance(tree, Mapping):
        if tree.keys() == {"Key", "Value"} and isinstance(tree["Value"], str):
            return {"Key": tree["Key"], "Value": change(str(tree["Key"]), tree["Value"])}
        return {key: with_strings(value, change, str(key)) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [with_strings(item, change, name) for item in tree]
    return change(name, tree) if isinstance(tree, str) else tree


def masked_words(words: Sequence[str]) -> list[str]:
    """The words of a command without secrets."""
    shown: list[str] = []
    option = ""
    for word in words:
        hidden = len(word) > _LONGEST or (option and not word.startswith("-") and looks_secret(option, word))
        shown.append(HIDDEN if hidden else masked_text(word))
        option = word.lstrip("-") if not hidden and word.startswith("-") and "=" not in word else ""
    return shown


def masked_text(text: str) -> str:
    """Shell, YAML or JSON without secrets: from the value of a secret on, the rest of the line is hidden.

    Only a parser could tell where the value ends, and the text may not be valid.
    """
    return "\n".join(map(_masked_line, without_passwords(text).split("\n")))


def _masked_line(line: str) -> str:
    at, pairs = 0, re.compile(_PAIR)
    while (match := pairs.search(line, at)) is not None:
        value, at = match["value"], match.start("value")
        if re.match(_REFERENCE, value) is None and looks_secret(match["name"] or match["option"], value.strip("'\"")):
            return line[:at] + HIDDEN
    return line
