"""The sections of docs/debugger-rules.md about the built-in rules, from their classes."""

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from smlocal_rules.parameters import parameters_of
from smlocal_rules.registry import BUILT_IN

if TYPE_CHECKING:
    from smlocal_rules.built_in_rule import BuiltInRule


def rules_markdown() -> str:
    """One section per rule, in the order of their names."""
    return "\n".join(line for name in sorted(BUILT_IN) for line in _section(name))


def _section(name: str) -> Iterator[str]:
    rule: type[BuiltInRule] = getattr(importlib.import_module(f"smlocal_rules.rules.{BUILT_IN[name]}"), name)
    yield f"## {name}\n"
    yield f"{inspect.getdoc(rule)}\n"
    if rule.TABLE_1:
        yield f"In Table 1 of the paper: {', '.join(rule.TABLE_1)}.\n"
    yield "| parameter | default | meaning |\n|---|---|---|"
    for key, each in parameters_of(rule).items():
        yield f"| `{key}` | {_default(each.default)} | {each.metadata['text']} |"
    yield f"\n{textwrap.dedent(rule.DECISIONS).strip()}\n"


def _default(value: Any) -> str:
    if value is None or value == ():
        return "none"
    text = (
        ",".join(f"{each:g}" if isinstance(each, float) else str(each) for each in value)
        if isinstance(value, tuple)
        else value
    )
    text = f"{text:g}" if isinstance(text, float) else str(text)
    return f"`{text}`".replace("|", "\\|")
