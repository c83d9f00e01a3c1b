"""The JSON Schema of the `Local` block, and the common parts of the schemas of all job files."""

import json
from collections.abc import Collection, Sequence
from typing import Any, Final

from smlocal.jobfile.option import Taker
from smlocal.jobfile.settings import LocalSettings, refused_settings
from smlocal.terms.model.as_pydantic import pydantic_model

_Json = dict[str, Any]
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


def local_schema(kind: Taker, *, faults: Sequence[str]) -> tuple[_Json, _Json]:
    """The block for jobs of a platform, and the definitions that it refers to.

    `faults` are the kinds of faults there. Only a platform with replicas has faults that name one.
    """
    local = pydantic_model(LocalSettings).model_json_schema()
    definitions = local.pop("$defs", {})
    for name in refused_settings(kind):
        del local["properties"][name]
    fault = definitions["Fault"]["properties"]
    fault["Kind"]["enum"] = list(faults)
    del fault["Instance" if kind is Taker.REPLICAS else "Replica"]
    return local, definitions


def local_schema_of(names: Collection[str]) -> tuple[_Json, _Json]:
    """A block that has only these settings, and the definitions that it refers to."""
    local = pydantic_model(LocalSettings).model_json_schema()
    definitions = local.pop("$defs", {})
    local["properties"] = {name: each for name, each in local["properties"].items() if name in names}
    text = json.dumps(local["properties"])
    return local, {name: each for name, each in definitions.items() if f"#/$defs/{name}" in text}


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
