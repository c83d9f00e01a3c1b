"""The steps of a pipeline that make jobs and models: their requests, their images, and their paths of this machine."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.local_path import is_remote
from smlocal.sagemaker.jobfile.local_paths import local_locations
from smlocal.sagemaker.pipelines.arguments import shape_of, with_parameters, without_expressions
from smlocal.sagemaker.pipelines.definition import Definition, Step
from smlocal.terms.validation.violation import Path

_EACH: Final = "*"
"""In a path: every element of a list."""
_TRAINED: Final = ("AlgorithmSpecification", "TrainingImage")
_IMAGES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "Training": (_TRAINED,),
    "Processing": (("AppSpecification", "ImageUri"),),
    "Tuning": (("TrainingJobDefinition", *_TRAINED), ("TrainingJobDefinitions", _EACH, *_TRAINED)),
    "Model": (("PrimaryContainer", "Image"), ("Containers", _EACH, "Image")),
    "RegisterModel": (
        ("InferenceSpecification", "Containers", _EACH, "Image"),
        ("AdditionalInferenceSpecifications", _EACH, "Containers", _EACH, "Image"),
    ),
}
_PRIVATE: Final = (
    ("TrainingImageConfig", "TrainingRepositoryAccessMode"),
    ("ImageConfig", "RepositoryAccessMode"),
)
"""Beside an image: says that it is in a private registry."""
_LOCATIONS: Final = frozenset({"ModelDataUrl", "S3Uri"})
"""Members of requests of which this machine has no model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeStep:
    """A step that makes something, with the values of parameters in its arguments."""

    step: Step = field(repr=False)
    arguments: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Of the step."""
        return self.step.name

    @property
    def path(self) -> Path:
        """The place of the arguments in the definition."""
        return (*self.step.path, "Arguments")

    def images(self) -> Iterator[tuple[Path, str]]:
        """The images that the service pulls itself, as far as they are known, and their places in the definition."""
        for place in _IMAGES.get(self.step.type.name, ()):
            for path, around in _at(self.arguments, place[:-1]):
                image = around.get(place[-1])
                private = any((around.get(each) or {}).get(member) == "Vpc" for each, member in _PRIVATE)
                if isinstance(image, str) and not private:
                    yield (*self.path, *path, place[-1]), image

    def paths_here(self) -> Iterator[tuple[Path, str]]:
        """What is on this machine, and its place in the definition."""
        shape = shape_of(self.step)
        plain: Any = without_expressions(self.arguments)
        for path, uri in local_locations(plain, shape) if shape is not None else _unknown_locations(plain, ()):
            yield (*self.path, *path), uri

    def requests(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """The requests of training or processing jobs that it makes, without what is not known before it runs."""
        plain: Any = without_expressions(self.arguments)
        if self.step.type.name in {"Training", "Processing"}:
            yield self.path, plain
        elif self.step.type.name == "Tuning":
            for place in (("TrainingJobDefinition",), ("TrainingJobDefinitions", _EACH)):
                for path, found in _at(plain, place):
                    yield (*self.path, *path), dict(found)


def made_steps(definition: Definition, values: Mapping[str, Any]) -> Iterator[MadeStep]:
    """Those of a definition, also in branches. `values`: of its parameters."""
    for step in definition.steps.values():
        if step.type.operation:
            yield MadeStep(step=step, arguments=with_parameters(step.arguments, values))


def _at(value: Any, place: tuple[str, ...], path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The maps at a place."""
    if not place:
        if isinstance(value, Mapping):
            yield path, value
    elif place[0] == _EACH:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _at(item, place[1:], (*path, index))
    elif isinstance(value, Mapping):
        yield from _at(value.get(place[0]), place[1:], (*path, place[0]))


def _unknown_locations(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name in _LOCATIONS and isinstance(item, str):
                if item.strip() and not is_remote(item):
                    yield (*path, name), item
            else:
                yield from _unknown_locations(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_locations(item, (*path, index))
