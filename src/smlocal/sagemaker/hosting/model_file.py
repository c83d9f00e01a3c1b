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
from smlocal.jobs.contract.model.structure import Structure, Whole, member_types, members, split
from smlocal.jobs.contract.validation.violation import Violation
from smlocal.jobs.contract.validation.walk import validate
from smlocal.sagemaker.contract.identity import is_region_name
from smlocal.sagemaker.contract.model.hosting import (
    ContainerDefinition,
    CreateEndpointConfigInput,
    CreateEndpointInput,
    CreateModelInput,
    ProductionVariant,
)
from smlocal.sagemaker.hosting import facts
from smlocal.sagemaker.hosting.members import refused_members
from smlocal.sagemaker.jobfile.job_file import without_nulls

SERVING: Final = "Serving"
"""The block of limits in `Local`, which only endpoints have."""
_TAKEN: Final = frozenset(
    {
        *("Region", "Engines", "AddHosts", "Networks", "NetworkRange", "Endpoints", "Sources", "AllowedPaths"),
        *("AllowedBuckets", "Credentials", "Gpus", "AllowCpu", "Pull", "Memory", "Cpus", "ShmSize", "Ulimits"),
        *("Processes", "StopGraceSeconds"),
    }
)
"""The settings that an endpoint has a use for."""
_Seconds = Annotated[int, Whole(minimum=1, maximum=86_400)]


class ServingLimits(Structure):
    """Limits of the service, which a test may set lower."""

    StartupSeconds: _Seconds | None = None
    """Until the first ping must be answered. Default: ContainerStartupHealthCheckTimeoutInSeconds, else 480."""
    PingSeconds: _Seconds = int(facts.PING_SECONDS)
    """For the answer to one ping."""
    InvocationSeconds: _Seconds = int(facts.INVOCATION_SECONDS)
    """For the answer to an invocation."""
    MaxBodyBytes: Annotated[int, Whole(minimum=1, maximum=1 << 30)] = facts.MOST_BODY
    """The most bytes of a request."""


class ModelRequest(CreateModelInput, CreateEndpointConfigInput, CreateEndpointInput):
    """All members of the three requests. No two of them mean different things."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFile:
    """A valid model file."""

    container: ContainerDefinition
    variant: ProductionVariant
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
    def startup(self) -> float:
        """Seconds until the first ping must be answered."""
        stated = self.serving.StartupSeconds or self.variant.ContainerStartupHealthCheckTimeoutInSeconds
        return float(stated or facts.STARTUP_SECONDS)


def is_model_file(data: Mapping[str, Any]) -> bool:
    """True for a document of this form, by its members."""
    return any(each in data for each in ("PrimaryContainer", "Containers"))


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
    containers = [] if request is None else [*filter(None, [request.PrimaryContainer]), *(request.Containers or ())]
    if request is not None:
        violations += _broken_rules(request, containers)
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
    variants = request.ProductionVariants or [ProductionVariant(InitialInstanceCount=1)]
    stated = (document.data.get(LOCAL) or {}).get("StopGraceSeconds")
    return ModelFile(
        container=containers[0],
        variant=variants[0],
        role=request.ExecutionRoleArn or "",
        isolated=request.EnableNetworkIsolation is True,
        local=local,
        serving=serving,
        grace=facts.STOP_SECONDS if stated is None else local.StopGraceSeconds,
        raw=raw,
        document=document,
    )


def _broken_rules(request: ModelRequest, containers: list[ContainerDefinition]) -> list[Violation]:
    """What the members say together."""
    found = []
    if request.PrimaryContainer is not None and request.Containers:
        found.append(Violation(path=("Containers",), text="Containers and PrimaryContainer exclude each other"))
    if not containers:
        text = "a model needs PrimaryContainer with an Image"
        found.append(Violation(path=("PrimaryContainer",), text=text))
    for each in containers[:1]:
        at = ("PrimaryContainer",) if request.PrimaryContainer is not None else ("Containers", 0)
        if not each.Image and not each.ModelPackageName:
            found.append(Violation(path=(*at, "Image"), text="Image is missing: it is the image to run"))
        if each.ModelDataUrl and each.ModelDataSource is not None:
            text = "ModelDataSource and ModelDataUrl exclude each other"
            found.append(Violation(path=(*at, "ModelDataSource"), text=text))
    return found


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
        if name not in _TAKEN and getattr(local, name) != getattr(default, name)
    ]
    if len(local.Engines) > 1:
        found.append(Violation(path=(LOCAL, "Engines"), text="Local.Engines: an endpoint runs on one engine; name one"))
    if local.Region is not None and not is_region_name(local.Region):
        found.append(wrong_region(local.Region, "us-east-1"))
    return found
