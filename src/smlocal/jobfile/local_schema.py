"""The JSON Schema of the `Local` block, and the common parts of the schemas of all job files."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.jobfile.settings import LocalSettings
from smlocal.terms.model.as_pydantic import pydantic_model
from smlocal.terms.model.structure import Structure

_Json = dict[str, Any]
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


def local_schema(
    refused: Collection[str],
    *,
    faults: Sequence[str],
    replicas: bool = False,
    blocks: Mapping[str, type[Structure]] | None = None,
) -> tuple[_Json, _Json]:
    """The block without settings that such jobs have no use for, and the definitions that it refers to.

    `faults`: the kinds of faults there. `replicas`: a fault may name one of them, else an instance type. `blocks`:
    further members, which only this kind has.
    """
    local = pydantic_model(LocalSettings).model_json_schema()
    definitions = local.pop("$defs", {})
    local["properties"] = {name: each for name, each in local["properties"].items() if name not in refused}
    fault = definitions["Fault"]["properties"]
    fault["Kind"]["enum"] = list(faults)
    del fault["Instance" if replicas else "Replica"]
    used = dict(_used(definitions, local["properties"]))
    local["properties"] |= {name: pydantic_model(each).model_json_schema() for name, each in (blocks or {}).items()}
    return local, {name: each for name, each in definitions.items() if name in used}


def _used(definitions: _Json, schema: Any) -> Iterator[tuple[str, Any]]:
    """The definitions to which a schema refers, and those to which these do."""
    text = json.dumps(schema)
    for name, each in definitions.items():
        if f'"#/$defs/{name}"' in text and each is not schema:
            yield name, each
            yield from _used(definitions, each)


def without_null(schema: _Json) -> _Json:
    """The schema of a member without its null."""
    return next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)


def plain_schema(value: Any, *, top: bool = False) -> Any:
    """Remove what only says that a missing member is null."""
    if isinstance(value, list):
        return [plain_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item for key, item in value.items() if not (key == "default" and item is None)}
    alternatives = kept.get("anyOf")
    if isinstance(alternatives, list) and {"type": "null"} in alternatives:
        del kept["anyOf"]
        kept = {**without_null({"anyOf": alternatives}), **kept}
    drop = {"title", "description"} if top else {"title"}
    return {
        key: {name: plain_schema(item) for name, item in items.items()}
        if key in ("properties", "$defs")
        else plain_schema(items)
        for key, items in kept.items()
        if key not in drop or not isinstance(items, str)
    }
