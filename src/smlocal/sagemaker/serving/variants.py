"""The models of a model file, the variants that run them, and the rules that hold between these members. Pure."""

import os
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.model.hosting import (
    ContainerDefinition,
    CreateModelInput,
    ProductionVariant,
    S3ModelDataSource,
)
from smlocal.sagemaker.serving import facts
from smlocal.terms.validation.violation import Path, Violation

URL: Final = "ModelDataUrl"
ONE_OF: Final = "Specify one of either Image and Model Data URL or ModelPackageName in container definition."
"""The service's sentence about a container that names a package and says itself what is in it."""
_FLAT: Final = ("ModelName", "PrimaryContainer", "Containers", "InferenceExecutionConfig")
"""Members of a single model, which a file with a list of models has not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Container:
    """One container of a model."""

    definition: ContainerDefinition
    at: Path
    """Where it is in the document."""
    name: str
    """As the service calls it in messages, and in the name of a log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """One model."""

    name: str
    """Empty: the only one has none."""
    containers: tuple[Container, ...]
    direct: bool
    """True if a request names the container that it is for. Else the answer of one is the request of the next."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A production variant."""

    name: str
    definition: ProductionVariant
    model: Model

    @property
    def weight(self) -> float:
        """Its part of the invocations, of the sum of all."""
        return self.definition.InitialVariantWeight if self.definition.InitialVariantWeight is not None else 1.0


def flat_rules(given: Mapping[str, object]) -> Iterator[Violation]:
    """A file has one model, or a list of them."""
    if facts.MODELS in given:
        for name in _FLAT:
            if name in given:
                yield Violation(path=(name,), text=f"{name} and {facts.MODELS} exclude each other")


def model_rules(model: CreateModelInput, at: Path) -> Iterator[Violation]:
    """What the members of one model say together."""
    if model.PrimaryContainer is not None and model.Containers:
        yield Violation(path=(*at, "Containers"), text="Containers and PrimaryContainer exclude each other")
    containers = list(_containers(model, at))
    if not containers:
        text = "a model needs PrimaryContainer with an Image"
        yield Violation(path=(*at, "PrimaryContainer"), text=text)
    for each, place in containers:
        if each.ModelPackageName:
            yield Violation(path=(*place, "ModelPackageName"), text=_package_text(each))
        elif not each.Image:
            yield Violation(path=(*place, "Image"), text="Image is missing: it is the image to run")
        elif each.InferenceSpecificationName:
            text = "InferenceSpecificationName needs ModelPackageName"
            yield Violation(path=(*place, "InferenceSpecificationName"), text=text)
        if each.ModelDataUrl and each.ModelDataSource is not None:
            text = "ModelDataSource and ModelDataUrl exclude each other"
            yield Violation(path=(*place, "ModelDataSource"), text=text)
        yield from _prefix_rules(each, place)
    variables = [(name, value) for each, _ in containers for name, value in (each.Environment or {}).items()]
    size = sum(len(name.encode()) + len(value.encode()) for name, value in variables)
    if size > facts.MOST_ENVIRONMENT:
        of = " of all containers" if len(containers) > 1 else ""
        text = (
            f"Environment{of} has {size:,} bytes of keys and values, and at most {facts.MOST_ENVIRONMENT:,} are allowed"
        )
        yield Violation(path=(*containers[0][1], "Environment"), text=text)
    if len(containers) > 1:
        yield from _hostname_rules(model, at)


def _package_text(container: ContainerDefinition) -> str:
    """What is wrong with the name of a package that was not replaced by the container of the package."""
    if container.Image or container.ModelDataUrl or container.ModelDataSource is not None:
        return ONE_OF
    return f"the model package {container.ModelPackageName} is not on this machine"


def _prefix_rules(container: ContainerDefinition, place: Path) -> Iterator[Violation]:
    """A prefix in S3 ends like a folder (the service model), and additional sources have names of their own."""
    further = container.AdditionalModelDataSources or ()
    found: list[tuple[Path, S3ModelDataSource | None]] = [
        (("AdditionalModelDataSources", index), each.S3DataSource) for index, each in enumerate(further)
    ]
    if container.ModelDataSource is not None:
        found.append((("ModelDataSource",), container.ModelDataSource.S3DataSource))
    for at, source in found:
        uri = "" if source is None or source.S3DataType != "S3Prefix" else source.S3Uri
        if uri.startswith("s3://") and not uri.endswith("/"):
            where: Path = (*place, *at, "S3DataSource", "S3Uri")
            yield Violation(path=where, text=f"S3Uri {uri} of an S3Prefix does not end with /")
    names = [each.ChannelName for each in further]
    for index, name in enumerate(names):
        where = (*place, "AdditionalModelDataSources", index, "ChannelName")
        if name in {".", ".."}:
            yield Violation(path=where, text=f"ChannelName '{name}' cannot be the name of a folder")
        elif name in names[:index]:
            yield Violation(path=where, text=f"ChannelName {name} is that of another source")


def _hostname_rules(model: CreateModelInput, at: Path) -> Iterator[Violation]:
    """All containers have a name of their own, or none has one."""
    names = [each.ContainerHostname for each in model.Containers or ()]
    direct = _is_direct(model)
    for index, name in enumerate(names):
        where: Path = (*at, "Containers", index, "ContainerHostname")
        if not name and (direct or any(names)):
            why = "with direct invocation every container has one" if direct else "other containers have one"
            yield Violation(path=where, text=f"ContainerHostname is missing: {why}")
        if name and name in names[:index]:
            yield Violation(path=where, text=f"ContainerHostname {name} is that of another container")


def variant_rules(
    variants: Sequence[ProductionVariant], models: Sequence[tuple[CreateModelInput, Path]], *, listed: bool
) -> Iterator[Violation]:
    """Each variant has a name of its own and one of the models, and each model has a variant."""
    names = [model.ModelName for model, _ in models]
    if listed:
        yield from _listed_rules(models, {variant.ModelName for variant in variants})
    for index, variant in enumerate(variants):
        at: Path = ("ProductionVariants", index)
        name = variant.VariantName
        if not name and len(variants) > 1:
            yield Violation(path=(*at, "VariantName"), text="VariantName is missing: there are several variants")
        if name and name in [each.VariantName for each in variants[:index]]:
            yield Violation(path=(*at, "VariantName"), text=f"VariantName {name} is that of another variant")
        if listed and not variant.ModelName:
            yield Violation(path=(*at, "ModelName"), text=f"ModelName is missing: it names one of {facts.MODELS}")
        if variant.ModelName and any(names) and variant.ModelName not in names:
            text = f"ModelName {variant.ModelName} names no model of this file"
            yield Violation(path=(*at, "ModelName"), text=text)


def _listed_rules(
    models: Sequence[tuple[CreateModelInput, Path]], used: AbstractSet[str | None]
) -> Iterator[Violation]:
    names = [model.ModelName for model, _ in models]
    for index, (model, at) in enumerate(models):
        where: Path = (*at, "ModelName")
        if not model.ModelName:
            yield Violation(path=where, text="ModelName is missing: variants name it")
        elif model.ModelName in names[:index]:
            yield Violation(path=where, text=f"ModelName {model.ModelName} is that of another model")
        elif model.ModelName not in used:
            yield Violation(path=where, text=f"no variant runs the model {model.ModelName}")
    if len({model.EnableNetworkIsolation is True for model, _ in models}) > 1:
        text = "EnableNetworkIsolation is not the same for all models; that is not possible here"
        yield Violation(path=(*models[0][1], "EnableNetworkIsolation"), text=text)


def variants_of(
    variants: Sequence[ProductionVariant], models: Sequence[tuple[CreateModelInput, Path]]
) -> tuple[Variant, ...]:
    """The variants of a valid file."""
    found = [_model(model, at) for model, at in models]
    by_name = {model.name: model for model in found}
    return tuple(
        Variant(
            name=variant.VariantName or facts.VARIANT,
            definition=variant,
            model=by_name.get(variant.ModelName or "", found[0]),
        )
        for variant in variants
    )


def _model(model: CreateModelInput, at: Path) -> Model:
    several = len(model.Containers or ()) > 1
    return Model(
        name=model.ModelName or "",
        containers=tuple(
            Container(
                definition=each,
                at=place,
                name=(each.ContainerHostname or facts.numbered_container(number)) if several else facts.PRIMARY,
            )
            for number, (each, place) in enumerate(_containers(model, at), start=1)
        ),
        direct=several and _is_direct(model),
    )


def _is_direct(model: CreateModelInput) -> bool:
    return model.InferenceExecutionConfig is not None and model.InferenceExecutionConfig.Mode == "Direct"


def _containers(model: CreateModelInput, at: Path) -> Iterator[tuple[ContainerDefinition, Path]]:
    if model.PrimaryContainer is not None:
        yield model.PrimaryContainer, (*at, "PrimaryContainer")
    for index, each in enumerate(model.Containers or ()):
        yield each, (*at, "Containers", index)


def container_of(path: str) -> dict[str, Any]:
    """The members of a container for its model: an archive or a folder."""
    if not os.path.isdir(path):
        return {URL: os.path.abspath(path)}
    source = {"S3Uri": os.path.abspath(path), "S3DataType": "S3Prefix", "CompressionType": "None"}
    return {"ModelDataSource": {"S3DataSource": source}}


def _models_in(data: Mapping[str, Any]) -> list[tuple[Path, Any]]:
    listed = data.get(facts.MODELS)
    if isinstance(listed, list) and listed:
        return [((facts.MODELS, index), each) for index, each in enumerate(listed)]
    return [((), data)]


def containers_in(data: Mapping[str, Any]) -> Iterator[Path]:
    """The paths of a document's containers, at least one. The document may be invalid."""
    for at, model in _models_in(data):
        several = model.get("Containers") if isinstance(model, Mapping) else None
        count = len(several) if isinstance(several, list) else 0
        if not count:
            yield (*at, "PrimaryContainer")
        for index in range(count):
            yield (*at, "Containers", index)


def models_named(document: Document) -> Iterator[tuple[Path, str]]:
    """The containers with a job's name as the model, and the names."""
    for at in containers_in(document.data):
        container = part_at(document, at)
        value = container.get(URL) if isinstance(container, dict) else None
        if isinstance(value, str) and is_job_name(value):
            yield at, value


def packages_named(document: Document) -> list[Path]:
    """The models of which a container names a package."""
    found = []
    for at, _ in _models_in(document.data):
        containers = (part_at(document, place) for place in containers_in(document.data) if place[: len(at)] == at)
        if any(isinstance(each, dict) and isinstance(each.get("ModelPackageName"), str) for each in containers):
            found.append(at)
    return found


def part_at(document: Document, at: Path) -> Any:
    """A part of a document; None if missing. The document may be invalid."""
    found: Any = document.data
    for step in at:
        if isinstance(found, list) and isinstance(step, int):
            found = found[step]
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found


def is_job_name(text: str) -> bool:
    """True if the text may be a job's name and does not look like a file."""
    return text.isascii() and text.replace("-", "").isalnum() and text.strip("-") == text
