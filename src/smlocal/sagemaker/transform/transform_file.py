"""Read a transform file: CreateTransformJob, with its model in the same document, and local settings."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, ClassVar, Final, cast

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.model.hosting import CreateModelInput
from smlocal.sagemaker.contract.model.transform import CreateTransformJobRequest, DataProcessing
from smlocal.sagemaker.jobfile.request_reading import SharedReading, ValidRequest
from smlocal.sagemaker.serving.model_file import READING as MODEL
from smlocal.sagemaker.serving.model_file import SERVING, ModelFile, ServingLimits, read_model, refused_settings
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.data_processing import FORMS, form_of
from smlocal.sagemaker.transform.json_path import JsonPathError, parse
from smlocal.sagemaker.transform.members import MEMBERS
from smlocal.terms.model.structure import Structure
from smlocal.terms.validation.violation import Path, Violation

_OUTPUT: Final = "Output"
_FORMS: Final = f"{', '.join([*FORMS][:-1])} or {[*FORMS][-1]}"
_CONTROL: Final = regex(r"[\x00-\x08\x0a-\x1f\x7f]")
_MODEL: Final = ("PrimaryContainer", "ExecutionRoleArn", "EnableNetworkIsolation")
"""What an endpoint and a transform job have in common."""


class TransformRequest(CreateModelInput, CreateTransformJobRequest):
    """All members of both requests. The two that both have mean the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformFile:
    """A valid transform file."""

    request: CreateTransformJobRequest
    model: ModelFile
    """Its model, as if an endpoint were made of it."""
    local: LocalSettings
    raw: dict[str, Any] = field(repr=False)
    """The request as it was given, without `Local` and without members that are null."""
    document: Document = field(repr=False)

    @property
    def processing(self) -> DataProcessing:
        """The filters; empty ones if there are none."""
        return self.request.DataProcessing or DataProcessing()


class TransformReading(SharedReading):
    """A file has its model too, which a client of the service has made before."""

    SHAPE = TransformRequest
    TABLE = MEMBERS
    NAME = "TransformJobName"
    REFUSED: ClassVar[Mapping[str, str]] = refused_settings("transform jobs have no use for it", but={_OUTPUT})
    BLOCKS: ClassVar[Mapping[str, type[Structure]]] = {SERVING: ServingLimits}
    PLACES: ClassVar[Mapping[str, Path]] = {
        "members": (),
        "image": ("PrimaryContainer", "Image"),
        "environment": ("Environment",),
        "name": ("TransformJobName",),
        "instance_type": ("TransformResources", "InstanceType"),
        "instance_count": ("TransformResources", "InstanceCount"),
        "role": ("ExecutionRoleArn",),
    }
    OUTPUT = ("TransformOutput", "S3OutputPath")
    USUAL_STEM = "transform"
    TASK = "run the transform job"

    def made(self, valid: ValidRequest) -> TransformFile:
        """With its model, as if an endpoint were made of it."""
        model = read_model(_model_document(valid.document, valid.request, valid.raw))
        return TransformFile(
            request=valid.request, model=model, local=valid.local, raw=valid.raw, document=valid.document
        )

    def shape(self, *, strict: bool) -> type[Structure]:
        """The service has no request with a model."""
        return CreateTransformJobRequest if strict else TransformRequest

    def complete(self, document: Document, *, strict: bool) -> None:
        """Fill in the named model, if it is known here: made by a client, or by a job."""
        if not strict:
            data = document.data
            if isinstance(data.get("ModelName"), str) and "PrimaryContainer" not in data and "Containers" not in data:
                from smlocal.sagemaker.transform.known_models import with_known_model  # the store; no schema needs it

                with_known_model(document, data["ModelName"])
            MODEL.complete(document, strict=strict)

    def broken_rules(
        self, request: CreateTransformJobRequest | None, raw: Mapping[str, Any], *, strict: bool
    ) -> Iterator[Violation]:
        """What the members say together, and whether there is a model."""
        if request is not None:
            yield from _broken_rules(request)
        if not strict and "PrimaryContainer" not in raw:
            named = f"the model '{raw['ModelName']}' is not known here; " if raw.get("ModelName") else ""
            text = f"{named}a transform job needs PrimaryContainer with an Image"
            yield Violation(path=("ModelName",) if named else ("PrimaryContainer",), text=text)


READING: Final = TransformReading()


def read_transform(document: Document, *, strict: bool = False, local_allowed: bool = True) -> TransformFile:
    """Validate a document; one error lists all mistakes."""
    return cast("TransformFile", READING.read(document, strict=strict, local_allowed=local_allowed))


def _model_document(document: Document, request: CreateTransformJobRequest, raw: Mapping[str, Any]) -> Document:
    """The document of an endpoint with the same model, limits and settings."""
    given = dict(document.data.get(LOCAL) or {})
    given.pop(_OUTPUT, None)
    client = request.ModelClientConfig
    limits = {
        "StartupSeconds": facts.STARTUP_SECONDS,
        "InvocationSeconds": (client and client.InvocationsTimeoutInSeconds) or facts.INVOCATION_SECONDS,
        **(given.get(SERVING) or {}),
    }
    kind = "local" if request.TransformResources is None else request.TransformResources.InstanceType
    variant = {"VariantName": facts.HOST, "InitialInstanceCount": 1, "InstanceType": kind}
    data = {
        **{name: raw[name] for name in _MODEL if name in raw},
        "ProductionVariants": [variant],
        LOCAL: {**given, SERVING: limits},
    }
    return document.with_data(data)


def _broken_rules(request: CreateTransformJobRequest) -> list[Violation]:
    """What the members say together. What the container says too is judged when it has said it."""
    found = []
    payload, concurrent = request.MaxPayloadInMB, request.MaxConcurrentTransforms
    if payload is not None and payload > facts.MOST_MB:
        found.append(Violation(path=("MaxPayloadInMB",), text=f"MaxPayloadInMB is at most {facts.MOST_MB}"))
    elif payload is not None and concurrent and payload * concurrent > facts.MOST_MB:
        text = facts.too_many_at_once(concurrent, payload)
        found.append(Violation(path=("MaxConcurrentTransforms",), text=text))
    resources = request.TransformResources
    if resources is not None and resources.InstanceCount > facts.MOST_INSTANCES:
        text = f"InstanceCount is at most {facts.MOST_INSTANCES}"
        found.append(Violation(path=("TransformResources", "InstanceCount"), text=text))
    for place, name in (("TransformInput", "ContentType"), ("TransformOutput", "Accept")):
        if _CONTROL.search(getattr(getattr(request, place), name) or ""):
            text = f"{name} has a control character, which no header can carry"
            found.append(Violation(path=(place, name), text=text))
    return [*found, *_broken_filters(request)]


def _broken_filters(request: CreateTransformJobRequest) -> list[Violation]:
    processing = request.DataProcessing
    if processing is None:
        return []
    found = []
    for name in ("InputFilter", "OutputFilter"):
        try:
            parse(getattr(processing, name) or "$")
        except JsonPathError as error:
            text = f"{name} is not an expression that the service supports: {error}"
            found.append(Violation(path=("DataProcessing", name), text=text))
    join = processing.JoinSource == "Input"
    into, out = form_of(request.TransformInput.ContentType), form_of(request.TransformOutput.Accept)
    if into is None and (join or (processing.InputFilter or "$") != "$"):
        text = f"DataProcessing needs a ContentType of {_FORMS}"
        found.append(Violation(path=("TransformInput", "ContentType"), text=text))
    if out is None and (join or (processing.OutputFilter or "$") != "$"):
        text = f"DataProcessing needs an Accept of {_FORMS}"
        found.append(Violation(path=("TransformOutput", "Accept"), text=text))
    if join and None not in {into, out} and into is not out:
        text = "JoinSource: Input needs an Accept of the same format as ContentType"
        found.append(Violation(path=("TransformOutput", "Accept"), text=text))
    return found
