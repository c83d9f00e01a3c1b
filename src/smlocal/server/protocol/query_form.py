"""The form of a query as parameters: `A.member.1.B=x` is `{"A": [{"B": "x"}]}`."""

from collections.abc import Callable
from typing import Any

from smlocal.server.call import ServiceError
from smlocal.server.protocol.form_fields import form_fields

_MOST_FIELDS = _MOST_ITEMS = 10_000
_LONGEST_INDEX = 9
_MOST_LEVELS = 20
"""Of names: `A.member.1.B` has four. Calls of the services have up to ten."""
_LONGEST_NAME = 200
"""Of a member, in a message."""
_LONGEST_NUMBER = 100
_NUMBERS: dict[str, Callable[[str], float]] = {"integer": int, "long": int, "float": float, "double": float}
_TRUTHS = {"true": True, "false": False}


def read_form(body: bytes) -> dict[str, str]:
    """The fields of a form; `ServiceError` if it is none."""
    try:
        return dict(form_fields(body, most=_MOST_FIELDS))
    except ValueError as error:
        raise ServiceError("MalformedInput", "The body is not a form.") from error


def parameters(shape: Any, form: dict[str, str]) -> dict[str, Any]:
    """What the form has, by the members of the shape. What the model does not know is left out, as the service does."""
    return {} if shape is None else _structure(shape, _tree(form))


def _tree(form: dict[str, str]) -> dict[str, Any]:
    """`{"A.member.1": "x"}` as `{"A": {"member": {"1": "x"}}}`."""
    root: dict[str, Any] = {}
    for name, value in form.items():
        if name.count(".") >= _MOST_LEVELS:
            raise _malformed(name)
        here = root
        *parents, last = name.split(".")
        for part in parents:
            inner = here.setdefault(part, {})
            if not isinstance(inner, dict):
                raise _malformed(name)
            here = inner
        if isinstance(here.get(last), dict):
            raise _malformed(name)
        here[last] = value
    return root


def _structure(shape: Any, tree: Any) -> dict[str, Any]:
    if not isinstance(tree, dict):
        raise _malformed(shape.name)
    found = {}
    for name, member in shape.members.items():
        written = member.serialization.get("name", name)
        if written in tree:
            found[name] = _value(member, tree[written], written)
    return found


def _value(shape: Any, tree: Any, name: str) -> Any:
    if shape.type_name == "structure":
        return _structure(shape, tree)
    if shape.type_name == "list":
        return _list(shape, tree, name)
    if shape.type_name == "map":
        return _map(shape, tree, name)
    if not isinstance(tree, str):
        raise _malformed(name)
    return _scalar(shape, tree, name)


def _list(shape: Any, tree: Any, name: str) -> list[Any]:
    if tree == "":
        return []
    inside = None if shape.serialization.get("flattened") else shape.member.serialization.get("name", "member")
    return [_value(shape.member, each, name) for each in _items(tree, inside, name)]


def _map(shape: Any, tree: Any, name: str) -> dict[str, Any]:
    """`A.entry.1.key=x&A.entry.1.value=y`."""
    inside = None if shape.serialization.get("flattened") else "entry"
    key, value = (each.serialization.get("name", usual) for each, usual in ((shape.key, "key"), (shape.value, "value")))
    found = {}
    for entry in _items(tree, inside, name):
        if not isinstance(entry, dict) or not isinstance(entry.get(key), str) or value not in entry:
            raise _malformed(name)
        found[entry[key]] = _value(shape.value, entry[value], name)
    return found


def _items(tree: Any, inside: str | None, name: str) -> list[Any]:
    """What is numbered in a tree, in its order. `inside`: below a part of this name."""
    if isinstance(tree, dict) and inside is not None:
        tree = tree.get(inside, {})
    if not isinstance(tree, dict) or len(tree) > _MOST_ITEMS or not all(map(_is_index, tree)):
        raise _malformed(name)
    return [tree[key] for key in sorted(tree, key=int)]


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) <= _LONGEST_INDEX


def _scalar(shape: Any, text: str, name: str) -> Any:
    kind = shape.type_name
    if kind in _NUMBERS:
        if len(text) > _LONGEST_NUMBER:
            raise _malformed(name)
        try:
            return _NUMBERS[kind](text)
        except ValueError:
            raise _malformed(name) from None
    if kind == "boolean":
        if text not in _TRUTHS:
            raise _malformed(name)
        return _TRUTHS[text]
    return text


def _malformed(name: str) -> ServiceError:
    shown = name[:_LONGEST_NAME]
    return ServiceError("MalformedInput", f"The value of {shown} is not of the type that the service expects.")
