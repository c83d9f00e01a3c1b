"""Read a model file: the requests that make an endpoint in one document, with local settings."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar, Final, cast, get_args

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.model.hosting import (
    CreateEndpointConfigInput,
    CreateEndpointInput,
    CreateModelInput,
    ProductionVariant,
)
from smlocal.sagemaker.jobfile.request_reading import SharedReading, ValidRequest
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.members import MEMBERS, refused_members
from smlocal.sagemaker.serving.variants import (
    Container,
    Variant,
    flat_rules,
    model_rules,
    models_named,
    packages_named,
    variant_rules,
    variants_of,
)
from smlocal.terms.model.structure import Items, Structure, Whole, member_types, members, split
from smlocal.terms.validation.violation import Path, Violation

SERVING: Final = "Serving"
"""The block of limits in `Local`, which only endpoints have."""
_TAKEN: Final = frozenset(
    {
        *(
            "Region",
            "Engines",
            "SpreadOver",
            "EngineInstances",
            "AddHosts",
            "Networks",
            "NetworkRange",
            "Endpoints",
            "Sources",
            "AllowedPaths",
        ),
        *("AllowedBuckets", "Credentials", "Gpus", "AllowCpu", "Pull", "Memory", "Cpus", "ShmSize", "Ulimits"),
        *("Processes", "StopGraceSeconds", "Cache", "CacheGiB"),
    }
)


_PORTS: Final = (
    "containers that serve listen at port 8080, which another program of the engine's machine may have; "
    "use Local.Networks or Local.AddHosts"
)


def refused_settings(why: str, *, but: Collection[str] = ()) -> dict[str, str]:
    """The settings that containers which serve have no use for; `but`: those that this kind has one for."""
    found = {name: why for name in members(LocalSettings) if name not in _TAKEN and name not in but}
    return {**found, "Network": _PORTS}


_MOST_MODELS: Final = 10
"""One for each production variant."""
_Seconds = Annotated[int, Whole(minimum=1, maximum=86_400)]


class ServingLimits(Structure):
    """Limits of the service, which a test may set lower."""

    StartupSeconds: _Seconds | None = None
    """Until the first ping must be answered. Default: ContainerStartupHealthCheckTimeoutInSeconds, else 480."""
    PingSeconds: _Seconds = int(facts.PING_SECONDS)
    """For the answer to one ping."""
    InvocationSeconds: _Seconds = int(facts.INVOCATION_SECONDS)
    """For the answer to an invocation; of a streamed one, until it begins."""
    StreamSeconds: _Seconds = int(facts.STREAM_SECONDS)
    """For the whole of a streamed answer."""
    MaxBodyBytes: Annotated[int, Whole(minimum=1, maximum=1 << 30)] = facts.MOST_BODY
    """The most bytes of a request. The service's model has 6291456."""
    Key: bool | None = None
    """Whether the address answers only requests with the key. Default: if others have an account on this machine."""
    MaxInstances: Annotated[int, Whole(minimum=1, maximum=facts.MOST_INSTANCES)] | None = None
    """The instances of a variant that are run here. Default: 2, or 1 of a type with GPUs."""


class ModelRequest(CreateModelInput, CreateEndpointConfigInput, CreateEndpointInput):
    """All members of the three requests, of which no two mean different things; or several models in a list."""

    Models: Annotated[list[CreateModelInput], Items(minimum=1, maximum=_MOST_MODELS)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFile:
    """A valid model file."""

    variants: tuple[Variant, ...]
    models: tuple[CreateModelInput, ...] = field(repr=False)
    """The requests of the models."""
    role: str
    isolated: bool
    local: LocalSettings
    serving: ServingLimits
    grace: int
    """Seconds from SIGTERM to SIGKILL."""
    raw: dict[str, Any] = field(repr=False)
    """The request as it was given, without `Local` and without members that are null."""
    document: Document = field(repr=False)

    @property
    def containers(self) -> tuple[Container, ...]:
        """Those of all models, each once."""
        found = {each.at: each for variant in self.variants for each in variant.model.containers}
        return tuple(found.values())

    def startup(self, variant: Variant) -> float:
        """Seconds until the first ping must be answered."""
        stated = self.serving.StartupSeconds or variant.definition.ContainerStartupHealthCheckTimeoutInSeconds
        return float(stated or facts.STARTUP_SECONDS)


def instance_type_names() -> frozenset[str]:
    """Those that a production variant can have."""
    kind, here = split(member_types(ProductionVariant)["InstanceType"])
    return frozenset((*get_args(kind), *here.words))


class ModelReading(SharedReading):
    """A document may have the requests of several models."""

    SHAPE = ModelRequest
    TABLE = MEMBERS
    NAME = "EndpointName"
    REFUSED: ClassVar[Mapping[str, str]] = refused_settings("endpoints have no use for it")
    BLOCKS: ClassVar[Mapping[str, type[Structure]]] = {SERVING: ServingLimits}
    PLACES: ClassVar[Mapping[str, Path]] = {
        "members": (),
        "image": ("PrimaryContainer", "Image"),
        "environment": ("PrimaryContainer", "Environment"),
        "name": ("EndpointName",),
        "role": ("ExecutionRoleArn",),
    }
    USUAL_STEM = "endpoint"
    TASK = "deploy the model"

    def complete(self, document: Document, *, strict: bool) -> None:
        """Fill in the models of jobs and of packages that it names."""
        if not strict and packages_named(document):
            from smlocal.sagemaker.serving.model_registry import with_models_of_packages  # as below

            with_models_of_packages(document)
        if not strict and any(models_named(document)):
            from smlocal.sagemaker.serving.model_of_job import with_models_of_jobs  # the store; no schema needs it

            with_models_of_jobs(document)

    def made(self, valid: ValidRequest) -> ModelFile:
        """With its variants."""
        request: ModelRequest = valid.request
        models = _models(request)
        stated = (valid.document.data.get(LOCAL) or {}).get("StopGraceSeconds")
        return ModelFile(
            variants=variants_of(_variants(request), models),
            models=tuple(model for model, _ in models),
            role=next((model.ExecutionRoleArn for model, _ in models if model.ExecutionRoleArn), None)
            or request.ExecutionRoleArn
            or "",
            isolated=models[0][0].EnableNetworkIsolation is True,
            local=valid.local,
            serving=valid.blocks[SERVING],
            grace=facts.STOP_SECONDS if stated is None else valid.local.StopGraceSeconds,
            raw=valid.raw,
            document=valid.document,
        )

    def broken_rules(
        self, request: ModelRequest | None, raw: Mapping[str, Any], *, strict: bool
    ) -> Iterator[Violation]:
        """What the members say together."""
        del strict
        if request is None:
            return
        models = _models(request)
        yield from flat_rules(raw)
        yield from (each for model, at in models for each in model_rules(model, at))
        yield from variant_rules(_variants(request), models, listed=request.Models is not None)

    def broken_local_rules(self, local: LocalSettings, request: Any, raw: Mapping[str, Any]) -> list[Violation]:
        """There is one address, so there is one engine."""
        del request, raw
        text = "Local.Engines: an endpoint runs on one engine; name one"
        return [Violation(path=(LOCAL, "Engines"), text=text)] if len(local.Engines) > 1 else []

    def refused_members(
        self, request: Any, raw: Mapping[str, Any], sources: Collection[str] = ()
    ) -> list[tuple[str, Violation]]:
        """Of the listed models too."""
        del request, sources
        return refused_members(raw)


READING: Final = ModelReading()


def read_model(document: Document, *, strict: bool = False) -> ModelFile:
    """Validate a document; one error lists all mistakes."""
    return cast("ModelFile", READING.read(document, strict=strict))


def _models(request: ModelRequest) -> list[tuple[CreateModelInput, Path]]:
    if request.Models is None:
        return [(request, ())]
    return [(model, (facts.MODELS, index)) for index, model in enumerate(request.Models)]


def _variants(request: ModelRequest) -> list[ProductionVariant]:
    return request.ProductionVariants or [ProductionVariant(InitialInstanceCount=1)]
