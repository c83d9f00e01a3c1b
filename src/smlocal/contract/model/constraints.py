"""What the generated models are made of: a base class and one constraint class for each kind of shape."""

from collections.abc import Callable, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError, core_schema

from smlocal.contract.model.patterns import matches
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.fields import FieldInfo
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

INTEGER_LIMIT = 2**31
LONG_LIMIT = 2**63


class Structure(BaseModel):
    """A structure of the service: closed, frozen, and nothing is converted."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        defer_build=True,
        protected_namespaces=(),
    )


def is_local_path(value: str) -> bool:
    """True for what names a place on this machine: a `file://` URI or a path without a scheme."""
    if value.startswith("file://"):
        return len(value) > len("file://")
    return bool(value) and "\0" not in value and not value.startswith(("s3:", "https:")) and "://" not in value


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Text:
    """A string: its length in characters, its pattern, and whether a local path may stand instead."""

    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None
    or_path: bool = False

    def allows(self, value: str, *, strict: bool) -> bool:
        """True when the pattern lets the value through."""
        if self.pattern is None or matches(self.pattern, value):
            return True
        return self.or_path and not strict and is_local_path(value)

    def core(self) -> "CoreSchema":
        """How pydantic's core checks it."""
        text = core_schema.str_schema(min_length=self.minimum, max_length=self.maximum, strict=True)
        if self.pattern is None:
            return text
        return core_schema.with_info_after_validator_function(self._check, text)

    def _check(self, value: str, info: "core_schema.ValidationInfo") -> str:
        if not self.allows(value, strict=bool(info.context)):
            raise PydanticCustomError("pattern", "Value does not match the pattern")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return self.core()

    def __get_pydantic_json_schema__(self, core: "CoreSchema", handler: "GetJsonSchemaHandler") -> "JsonSchemaValue":
        schema = handler(core)
        if self.pattern is not None and not self.or_path and r"\p{" not in self.pattern:
            schema["pattern"] = f"^(?:{self.pattern})$"
        return schema


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Whole:
    """An integer of 32 bits, or of 64 where the service says long."""

    minimum: int | None = None
    maximum: int | None = None
    long: bool = False

    @property
    def limit(self) -> int:
        """First number too large for the type itself."""
        return LONG_LIMIT if self.long else INTEGER_LIMIT

    def core(self) -> "CoreSchema":
        """How pydantic's core checks it."""
        return core_schema.int_schema(
            ge=-self.limit if self.minimum is None else self.minimum,
            le=self.limit - 1 if self.maximum is None else self.maximum,
            strict=True,
        )

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return self.core()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Items:
    """How many members a list or a map may have."""

    minimum: int | None = None
    maximum: int | None = None

    def bound(self, schema: Any) -> Any:
        """The list's or map's schema with these bounds."""
        if self.minimum is not None:
            schema["min_length"] = self.minimum
        if self.maximum is not None:
            schema["max_length"] = self.maximum
        return schema

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        schema: CoreSchema = self.bound(handler(source))
        return schema


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OrHere:
    """Beside an enumeration of the service: words that only mean something on this machine."""

    words: tuple[str, ...]

    def core(self, names: tuple[str, ...]) -> "CoreSchema":
        """How pydantic's core checks it."""
        everything = core_schema.literal_schema([*names, *self.words])
        return core_schema.with_info_after_validator_function(self._check, everything)

    def _check(self, value: str, info: "core_schema.ValidationInfo") -> str:
        if value in self.words and info.context:
            raise PydanticCustomError("here", "The service does not know this value")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return self.core(get_args(source))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Checked:
    """A setting of our own that may be written in several ways, which a function tells apart."""

    trouble: Callable[[Any], str | None]
    """What is wrong with a value, in words that follow the setting's name; None for a good one."""
    schema: Mapping[str, Any]
    """The same for an editor, as JSON Schema."""

    def core(self) -> "CoreSchema":
        """How pydantic's core checks it."""
        return core_schema.no_info_after_validator_function(self._check, core_schema.any_schema())

    def _check(self, value: Any) -> Any:
        if self.trouble(value) is not None:
            raise PydanticCustomError("setting", "The setting cannot have this value")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return self.core()

    def __get_pydantic_json_schema__(self, core: "CoreSchema", handler: "GetJsonSchemaHandler") -> "JsonSchemaValue":
        return dict(self.schema)


def split(annotation: Any) -> tuple[Any, Any]:
    """Type and constraint of an annotation."""
    if get_origin(annotation) is Annotated:
        kind, constraint = get_args(annotation)[:2]
        return kind, constraint
    return annotation, None


def annotation_of(field: "FieldInfo") -> Any:
    """A member's annotation, its constraint put back where pydantic took it off."""
    annotation: Any = field.annotation
    for constraint in field.metadata:
        annotation = Annotated[annotation, constraint]
    return annotation


def member_types(model: type[Structure]) -> dict[str, Any]:
    """The annotation of each member of a structure, without its `| None`."""
    return {name: _present(annotation_of(field)) for name, field in model.model_fields.items()}


def _present(annotation: Any) -> Any:
    arguments = get_args(annotation)
    if get_origin(annotation) not in (Annotated, Literal) and NoneType in arguments:
        return next(argument for argument in arguments if argument is not NoneType)
    return annotation
