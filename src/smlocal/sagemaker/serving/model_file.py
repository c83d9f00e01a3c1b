"""Read a model file: the requests that make an endpoint in one document, with local settings."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final, get_args

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import FieldRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import read_local, wrong_region
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.refusal import invalid_request, mistake_lines
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.identity import is_region_name
from smlocal.sagemaker.contract.model.hosting import (
    CreateEndpointConfigInput,
    CreateEndpointInput,
    CreateModelInput,
    ProductionVariant,
)
from smlocal.sagemaker.jobfile.job_file import without_nulls
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.members import refused_members
from smlocal.sagemaker.serving.variants import (
    Container,
    Variant,
    flat_rules,
    model_rules,
    variant_rules,
    variants_of,
)
from smlocal.terms.model.structure import Items, Structure, Whole, member_types, members, split
from smlocal.terms.validation.violation import Path, Violation
from smlocal.terms.validation.walk import validate

SERVING: Final = "Serving"
"""The block of limits in `Local`, which only endpoints have."""
TAKEN: Final = frozenset(
    {
        *("Region", "Engines", "AddHosts", "Networks", "NetworkRange", "Endpoints", "Sources", "AllowedPaths"),
        *("AllowedBuckets", "Credentials", "Gpus", "AllowCpu", "Pull", "Memory", "Cpus", "ShmSize", "Ulimits"),
        *("Processes", "StopGraceSeconds", "Cache", "CacheGiB"),
    }
)
"""The settings that an endpoint has a use for."""
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


def read_model(document: Document, *, strict: bool = False) -> ModelFile:
    """Validate a document; one error lists all mistakes."""
    asked = {name: value for name, value in document.data.items() if name != LOCAL}
    request, violations = validate(ModelRequest, asked, strict=strict, written=document.written)
    raw: dict[str, Any] = without_nulls(asked)
    local, serving, in_local = _read_local(document)
    violations += in_local
    if request is not None:
        violations += _broken_rules(request, asked)
    not_done = refused_members(raw)
    if violations or request is None or local is None or serving is None:
        raise invalid_request(document, violations + [each for _, each in not_done])
    if not_done:
        names = list(dict.fromkeys(name for name, _ in not_done))
        raise FieldRefusedError(
            f"{document.name} uses what smlocal does not support: {', '.join(names)}",
            details=mistake_lines(document, [each for _, each in not_done]),
            remedy=["Remove it to deploy the model here."],
        )
    models = _models(request)
    stated = (document.data.get(LOCAL) or {}).get("StopGraceSeconds")
    return ModelFile(
        variants=variants_of(_variants(request), models),
        models=tuple(model for model, _ in models),
        role=next((model.ExecutionRoleArn for model, _ in models if model.ExecutionRoleArn), None)
        or request.ExecutionRoleArn
        or "",
        isolated=models[0][0].EnableNetworkIsolation is True,
        local=local,
        serving=serving,
        grace=facts.STOP_SECONDS if stated is None else local.StopGraceSeconds,
        raw=raw,
        document=document,
    )


def _models(request: ModelRequest) -> list[tuple[CreateModelInput, Path]]:
    if request.Models is None:
        return [(request, ())]
    return [(model, (facts.MODELS, index)) for index, model in enumerate(request.Models)]


def _variants(request: ModelRequest) -> list[ProductionVariant]:
    return request.ProductionVariants or [ProductionVariant(InitialInstanceCount=1)]


def _broken_rules(request: ModelRequest, given: Mapping[str, Any]) -> list[Violation]:
    """What the members say together."""
    models = _models(request)
    listed = request.Models is not None
    found = [*flat_rules(given), *(each for model, at in models for each in model_rules(model, at))]
    return [*found, *variant_rules(_variants(request), models, listed=listed)]


def _read_local(document: Document) -> tuple[LocalSettings | None, ServingLimits | None, list[Violation]]:
    block = document.data.get(LOCAL)
    if not isinstance(block, dict) or SERVING not in block:
        local, found = read_local(document)
        serving: ServingLimits | None = ServingLimits()
    else:
        rest = {name: value for name, value in block.items() if name != SERVING}
        shown = Document({**document.data, LOCAL: rest}, name=document.name, directory=document.directory)
        local, found = read_local(shown)
        serving, more = validate(
            ServingLimits, block[SERVING] or {}, strict=False, path=(LOCAL, SERVING), written=document.written
        )
        found = [*found, *more]
    if local is not None:
        found = [*found, *_without_use(local)]
    return local, serving, found


def _without_use(local: LocalSettings) -> list[Violation]:
    default = LocalSettings()
    found = [
        Violation(path=(LOCAL, name), text=f"Local.{name}: endpoints have no use for it; remove it")
        for name in members(LocalSettings)
        if name not in TAKEN and getattr(local, name) != getattr(default, name)
    ]
    if len(local.Engines) > 1:
        found.append(Violation(path=(LOCAL, "Engines"), text="Local.Engines: an endpoint runs on one engine; name one"))
    if local.Region is not None and not is_region_name(local.Region):
        found.append(wrong_region(local.Region, "us-east-1"))
    return found
