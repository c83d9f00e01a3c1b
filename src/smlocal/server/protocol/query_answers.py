"""Answers and errors as the query protocol has them: XML, by the shapes of the model."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4
from xml.etree.ElementTree import Element, SubElement, tostring

from botocore.model import OperationModel, Shape

from smlocal.server.call import ServiceError

_FIRST_SERVER_ERROR = 500
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot have, not even escaped."""


def encode(operation: OperationModel, answer: dict[str, Any]) -> bytes:
    """`<GetRoleResponse><GetRoleResult>…</GetRoleResult><ResponseMetadata>…`."""
    root = Element(f"{operation.name}Response", xmlns=operation.service_model.metadata.get("xmlNamespace", ""))
    shape = operation.output_shape
    if shape is not None:
        inside = SubElement(root, shape.serialization.get("resultWrapper", f"{operation.name}Result"))
        _structure(inside, shape, answer)
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


def _structure(parent: Element, shape: Any, value: dict[str, Any]) -> None:
    for name, member in shape.members.items():
        if value.get(name) is not None:
            _value(parent, member.serialization.get("name", name), member, value[name])


def _value(parent: Element, name: str, shape: Any, value: Any) -> None:
    if shape.type_name == "list":
        flattened = shape.serialization.get("flattened")
        inside = parent if flattened else SubElement(parent, name)
        item = name if flattened else shape.member.serialization.get("name", "member")
        for each in value:
            _value(inside, item, shape.member, each)
    elif shape.type_name == "map":
        inside = SubElement(parent, name)
        for key, each in value.items():
            entry = SubElement(inside, "entry")
            SubElement(entry, shape.key.serialization.get("name", "key")).text = _readable(key)
            _value(entry, shape.value.serialization.get("name", "value"), shape.value, each)
    elif shape.type_name == "structure":
        _structure(SubElement(parent, name), shape, value)
    else:
        SubElement(parent, name).text = _text(shape, value)


def _text(shape: Shape, value: Any) -> str:
    if shape.type_name == "boolean":
        return "true" if value else "false"
    if shape.type_name == "timestamp":
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return _readable(str(value))


def _readable(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
