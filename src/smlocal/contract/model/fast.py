"""A validator for the generated models at a third of what pydantic's own build of it costs.

Pydantic builds one from any annotation there is, and looks for plug-ins by reading the metadata of every installed
package. The generated models use eight kinds of annotation, so their core schema can be written down directly. A test
holds that both validators decide alike.
"""

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, SchemaValidator, core_schema

from smlocal.contract.model.constraints import Checked, Items, OrHere, Structure, Text, Whole, annotation_of

_CONFIG = core_schema.CoreConfig(extra_fields_behavior="forbid", strict=True)
_PLAIN: dict[Any, CoreSchema] = {
    bool: core_schema.bool_schema(strict=True),
    float: core_schema.float_schema(strict=True),
    str: core_schema.str_schema(strict=True),
}


def _annotated(base: Any, constraint: Any) -> CoreSchema:
    if isinstance(constraint, Text | Whole | Checked):
        return constraint.core()
    if isinstance(constraint, OrHere):
        return constraint.core(get_args(base))
    if isinstance(constraint, Items):
        schema: CoreSchema = constraint.bound(_schema(base))
        return schema
    raise TypeError(f"no schema for {constraint!r}")


def _composed(origin: Any, arguments: tuple[Any, ...]) -> CoreSchema | None:
    schema: CoreSchema | None = None
    if origin is Annotated:
        schema = _annotated(arguments[0], arguments[1])
    elif origin is Literal:
        schema = core_schema.literal_schema(list(arguments))
    elif origin is list:
        schema = core_schema.list_schema(_schema(arguments[0]), strict=True)
    elif origin is dict:
        schema = core_schema.dict_schema(_schema(arguments[0]), _schema(arguments[1]), strict=True)
    elif origin in (Union, UnionType) and arguments[1:] == (NoneType,):
        schema = core_schema.nullable_schema(_schema(arguments[0]))
    return schema


def _schema(annotation: Any) -> CoreSchema:
    if isinstance(annotation, type) and issubclass(annotation, Structure):
        return _structure(annotation)
    schema = _PLAIN.get(annotation) or _composed(get_origin(annotation), get_args(annotation))
    if schema is None:
        raise TypeError(f"no schema for {annotation!r}")
    return schema


def _default(field: FieldInfo) -> dict[str, Any]:
    if field.default_factory is not None:
        return {"default_factory": field.default_factory}
    return {"default": field.default}


@cache
def _structure(model: type[Structure]) -> CoreSchema:
    fields = {}
    for name, field in model.model_fields.items():
        schema = _schema(annotation_of(field))
        if not field.is_required():
            schema = core_schema.with_default_schema(schema, **_default(field))
        fields[name] = core_schema.model_field(schema)
    inner = core_schema.model_fields_schema(fields, model_name=model.__name__)
    return core_schema.model_schema(model, inner, config=_CONFIG, strict=False, frozen=True)


@cache
def validator(model: type[Structure]) -> SchemaValidator:
    """The validator of one model; `context=True` holds local paths to the service's pattern."""
    return SchemaValidator(_structure(model))
