"""The query protocol: a form is read as parameters, and answered with XML.

`A.member.1.B=x` is `{"A": [{"B": "x"}]}`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote_to_bytes
from uuid import uuid4
from xml.etree.ElementTree import Element, SubElement, tostring

from botocore.model import OperationModel, Shape

from smlocal.endpoint.call import ServiceError

_MOST_FIELDS = _MOST_ITEMS = 10_000
_LONGEST_INDEX = 9
_MOST_LEVELS = 20
"""The most levels of names: `A.member.1.B` has four. Calls of the services have up to ten."""
_LONGEST_NAME = 200
"""The longest name of a member, in a message."""
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
    """The parameters in the form, by the members of the shape.

    Members that the model does not know are left out, as the service does.
    """
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
    """The numbered items of a tree, in their order. `inside`: below a part of this name."""
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


# The fields of a form, as browsers send it too.

_AT_ONCE = 64 << 10
"""Bytes that are decoded together: the standard library makes a hundred bytes of objects of each `%41`."""
_ESCAPE = 3


def form_fields(body: bytes, *, most: int) -> list[tuple[str, str]]:
    """Names with values, in their order, also empty ones.

    `ValueError` for more fields, and for text that is not UTF-8.
    """
    if body.count(b"&") >= most:
        raise ValueError(f"more than {most} fields")
    body.decode()
    pairs = (field.partition(b"=") for field in body.split(b"&") if field)
    return [(_text(name), _text(value)) for name, _, value in pairs]


def _text(written: bytes) -> str:
    spaced = written.replace(b"+", b" ")
    if b"%" not in spaced:
        return spaced.decode()
    pieces = []
    begin = 0
    while begin < len(spaced):
        end = begin + _AT_ONCE
        cut = spaced.rfind(b"%", end - _ESCAPE + 1, end)  # an escape that would be cut is of the next piece
        end = end if cut < 0 or end >= len(spaced) else cut
        pieces.append(unquote_to_bytes(spaced[begin:end]))
        begin = end
    return b"".join(pieces).decode(errors="replace")


# Answers and errors: XML, by the shapes of the model.

_FIRST_SERVER_ERROR = 500
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot have, not even escaped."""


def encode(operation: OperationModel, answer: dict[str, Any]) -> bytes:
    """`<GetRoleResponse><GetRoleResult>…</GetRoleResult><ResponseMetadata>…`."""
    root = Element(f"{operation.name}Response", xmlns=operation.service_model.metadata.get("xmlNamespace", ""))
    shape = operation.output_shape
    if shape is not None:
        inside = SubElement(root, shape.serialization.get("resultWrapper", f"{operation.name}Result"))
        _add_structure(inside, shape, answer)
    SubElement(SubElement(root, "ResponseMetadata"), "RequestId").text = str(uuid4())
    return bytes(tostring(root))


def encode_error(error: ServiceError) -> bytes:
    """An `ErrorResponse`."""
    root = Element("ErrorResponse")
    inside = SubElement(root, "Error")
    SubElement(inside, "Type").text = "Sender" if error.status < _FIRST_SERVER_ERROR else "Receiver"
    SubElement(inside, "Code").text = _readable(error.code)
    SubElement(inside, "Message").text = _readable(error.message)
    SubElement(root, "RequestId").text = str(uuid4())
    return bytes(tostring(root))


def _add_structure(parent: Element, shape: Any, value: dict[str, Any]) -> None:
    for name, member in shape.members.items():
        if value.get(name) is not None:
            _add_value(parent, member.serialization.get("name", name), member, value[name])


def _add_value(parent: Element, name: str, shape: Any, value: Any) -> None:
    if shape.type_name == "list":
        flattened = shape.serialization.get("flattened")
        inside = parent if flattened else SubElement(parent, name)
        item = name if flattened else shape.member.serialization.get("name", "member")
        for each in value:
            _add_value(inside, item, shape.member, each)
    elif shape.type_name == "map":
        inside = SubElement(parent, name)
        for key, each in value.items():
            entry = SubElement(inside, "entry")
            SubElement(entry, shape.key.serialization.get("name", "key")).text = _readable(key)
            _add_value(entry, shape.value.serialization.get("name", "value"), shape.value, each)
    elif shape.type_name == "structure":
        _add_structure(SubElement(parent, name), shape, value)
    else:
        SubElement(parent, name).text = _written(shape, value)


def _written(shape: Shape, value: Any) -> str:
    if shape.type_name == "boolean":
        return "true" if value else "false"
    if shape.type_name == "timestamp":
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return _readable(str(value))


def _readable(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
