"""The structures as pydantic models, for `smlocal schema`.

A run does not use them: importing pydantic takes longer than everything else before a job begins. A test checks that
pydantic and `validation` accept the same requests.
"""

from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    create_model,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.model.structure import Checked, Items, Member, OrHere, Structure, Text, Whole, members, split

_CONFIG = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())


_MADE: dict[type[Structure], type[BaseModel]] = {}


def pydantic_model(structure: type[Structure]) -> type[BaseModel]:
    """The model of one structure. With `context=True` validation is strict: no local paths."""
    if structure not in _MADE:
        fields: dict[str, Any] = {
            name: (_annotation(member.annotation), _field(member)) for name, member in members(structure).items()
        }
        made = create_model(structure.__name__, __config__=_CONFIG, __doc__=structure.__doc__, **fields)
        _MADE[structure] = made
    return _MADE[structure]


def _field(member: Member) -> Any:
    if member.is_required:
        return Field(description=member.description)
    if member.make_default is not None:
        return Field(default_factory=member.make_default, description=member.description)
    return Field(default=member.default, description=member.description)


def _annotation(annotation: Any) -> Any:
    kind, constraint = split(annotation)
    if isinstance(constraint, Text | Whole | OrHere | Checked):
        return Annotated[kind, _Held(constraint=constraint)]
    if isinstance(kind, type) and issubclass(kind, Structure):
        return pydantic_model(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _annotation(next(one for one in arguments if one is not NoneType)) | None
    if origin in (list, dict):
        kind = origin[tuple(map(_annotation, arguments))]
    if isinstance(constraint, Items):
        return Annotated[kind, Field(min_length=constraint.minimum, max_length=constraint.maximum)]
    return kind


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Held:
    """A constraint for pydantic."""

    constraint: Text | Whole | OrHere | Checked

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        match self.constraint:
            case Whole() as whole:
                return core_schema.int_schema(
                    ge=-whole.limit if whole.minimum is None else whole.minimum,
                    le=whole.limit - 1 if whole.maximum is None else whole.maximum,
                    strict=True,
                )
            case Text() as text:
                inner = core_schema.str_schema(min_length=text.minimum, max_length=text.maximum, strict=True)
                return core_schema.with_info_after_validator_function(self._check, inner)
            case OrHere() as here:
                words = core_schema.literal_schema([*get_args(source), *here.words])
                return core_schema.with_info_after_validator_function(self._check, words)
            case Checked():
                return core_schema.with_info_after_validator_function(self._check, core_schema.any_schema())

    def _check(self, value: Any, info: ValidationInfo) -> Any:
        strict = bool(info.context)
        match self.constraint:
            case Text() as text:
                fine = text.allows(value, strict=strict)
            case OrHere() as here:
                fine = value not in here.words or not strict
            case Checked() as checked:
                fine = checked.trouble(value) is None
            case Whole():
                fine = True
        if not fine:
            raise PydanticCustomError("value", "Value is not one that the member may have")
        return value

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        if isinstance(self.constraint, Checked):
            return dict(self.constraint.schema)
        schema = handler(core)
        if isinstance(self.constraint, Text) and not self.constraint.or_path:
            pattern = self.constraint.pattern
            if pattern is not None and r"\p{" not in pattern:
                schema["pattern"] = f"^(?:{pattern})$"
        return schema
