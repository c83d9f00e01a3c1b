"""Data as YAML text that reads back as the same data, even in YAML 1.1."""

import json
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_./][\w./@-]*(?::[\w./@-]+)*", re.ASCII)
_NOT_STRINGS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan"}
_NUMBER = re.compile(r"[.0-9_eE]+")


def yaml_text(data: dict[str, Any]) -> str:
    """A map in block style, keys in their order."""
    return "".join(f"{line}\n" for line in _map(data))


def one_line(text: str) -> str:
    """Text for a comment: without characters that a YAML file cannot have."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def _map(data: dict[str, Any]) -> list[str]:
    lines = []
    for key, value in data.items():
        if isinstance(value, dict) and value:
            lines += [f"{_text(key)}:", *(f"  {line}" for line in _map(value))]
        elif isinstance(value, list) and value:
            lines += [f"{_text(key)}:", *(f"  {line}" for item in value for line in _item(item))]
        else:
            lines.append(f"{_text(key)}: {_scalar(value)}")
    return lines


def _item(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        first, *rest = _map(value)
        return [f"- {first}", *(f"  {line}" for line in rest)]
    return [f"- {_scalar(value)}"]


def _scalar(value: Any) -> str:
    return _text(value) if isinstance(value, str) else _json(value)


def _text(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and text.lower() not in _NOT_STRINGS and not _NUMBER.fullmatch(text)
    return text if plain else _json(text)


def _json(value: Any) -> str:
    """JSON is YAML, apart from surrogate pairs as escapes and line ends that only YAML knows."""
    return "".join(map(_escaped, json.dumps(value, ensure_ascii=False)))


def _escaped(character: str) -> str:
    return character if character.isprintable() else f"\\U{ord(character):08X}"
