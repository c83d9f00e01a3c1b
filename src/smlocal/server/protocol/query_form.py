"""The form of a query as parameters: `A.member.1.B=x` is `{"A": [{"B": "x"}]}`."""

from typing import Any

from smlocal.server.call import ServiceError

_MOST_ITEMS = 10_000
_LONGEST_INDEX = 9
_TRUTHS = {"true": True, "false": False}


def parameters(shape: Any, form: dict[str, str]) -> dict[str, Any]:
    """What the form has, by the members of the shape. What the model does not know is left out, as the service does."""
    return {} if shape is None else _structure(shape, _tree(form))


def _tree(form: dict[str, str]) -> dict[str, Any]:
    """`{"A.member.1": "x"}` as `{"A": {"member": {"1": "x"}}}`."""
    root: dict[str, Any] = {}
    for name, value in form.items():
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
    if not isinstance(tree, str):
        raise _malformed(name)
    return _scalar(shape, tree, name)


def _list(shape: Any, tree: Any, name: str) -> list[Any]:
    if tree == "":
        return []
    if not isinstance(tree, dict):
        raise _malformed(name)
    if not shape.serialization.get("flattened"):
        tree = tree.get(shape.member.serialization.get("name", "member"), {})
    if not isinstance(tree, dict) or len(tree) > _MOST_ITEMS or not all(map(_is_index, tree)):
        raise _malformed(name)
    return [_value(shape.member, tree[key], name) for key in sorted(tree, key=int)]


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) <= _LONGEST_INDEX


def _scalar(shape: Any, text: str, name: str) -> Any:
    try:
        if shape.type_name in {"integer", "long"}:
            return int(text)
        if shape.type_name in {"float", "double"}:
            return float(text)
    except ValueError:
        raise _malformed(name) from None
    if shape.type_name == "boolean":
        if text not in _TRUTHS:
            raise _malformed(name)
        return _TRUTHS[text]
    return text


def _malformed(name: str) -> ServiceError:
    return ServiceError("MalformedInput", f"The value of {name} is not of the type that the service expects.")
