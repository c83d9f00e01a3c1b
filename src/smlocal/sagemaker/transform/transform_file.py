"""Read a transform file: CreateTransformJob, with its model in the same document, and local settings."""

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import FieldRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import read_local
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.refusal import invalid_request, mistake_lines
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.contract.model.hosting import CreateModelInput
from smlocal.sagemaker.contract.model.transform import CreateTransformJobRequest, DataProcessing
from smlocal.sagemaker.jobfile.job_file import without_nulls
from smlocal.sagemaker.serving.model_file import SERVING, TAKEN, ModelFile, read_model
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.data_processing import FORMS, form_of
from smlocal.sagemaker.transform.json_path import JsonPathError, parse
from smlocal.sagemaker.transform.members import MEMBERS
from smlocal.terms.model.structure import members
from smlocal.terms.validation.violation import Violation
from smlocal.terms.validation.walk import validate

_OUTPUT: Final = "Output"
USED: Final = frozenset({*TAKEN, _OUTPUT})
"""The settings that a transform job has a use for."""
_FORMS: Final = ", ".join(FORMS)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
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


def read_named(
    document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
) -> tuple[TransformFile, str]:
    """The validated job, with the model that it names if that is known here, and its name; `stem`: of its file."""
    if name is not None:
        document.set(("TransformJobName",), name)
    if not strict:
        from smlocal.sagemaker.transform.known_models import (
            with_known_model,  # the store, which the schema does without
        )

        with_known_model(document)
    job = read_transform(document, strict=strict, local_allowed=local_allowed)
    return job, job.request.TransformJobName or default_name(stem, datetime.now().astimezone())


def read_transform(document: Document, *, strict: bool = False, local_allowed: bool = True) -> TransformFile:
    """Validate a document; one error lists all mistakes."""
    asked = {name: value for name, value in document.data.items() if name != LOCAL}
    form = CreateTransformJobRequest if strict else TransformRequest
    request, violations = validate(form, asked, strict=strict, written=document.written)
    raw: dict[str, Any] = without_nulls(asked)
    local, in_local = _read_local(document, allowed=local_allowed)
    violations += in_local
    if request is not None:
        violations += _broken_rules(request)
    if not strict and "PrimaryContainer" not in raw:
        named = f"the model '{raw['ModelName']}' is not known here; " if raw.get("ModelName") else ""
        text = f"{named}a transform job needs PrimaryContainer with an Image"
        violations.append(Violation(path=("ModelName",) if named else ("PrimaryContainer",), text=text))
    not_done = MEMBERS.refused(raw)
    if violations or request is None or local is None:
        raise invalid_request(document, violations + [each for _, each in not_done])
    if not_done:
        names = list(dict.fromkeys(name for name, _ in not_done))
        raise FieldRefusedError(
            f"{document.name} uses what smlocal does not support: {', '.join(names)}",
            details=mistake_lines(document, [each for _, each in not_done]),
            remedy=["Remove it to run the transform job here."],
        )
    model = read_model(_model_document(document, request, raw))
    return TransformFile(request=request, model=model, local=local, raw=raw, document=document)


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


def _read_local(document: Document, *, allowed: bool) -> tuple[LocalSettings | None, list[Violation]]:
    """The settings but for the limits of containers that serve, which `read_model` reads."""
    block = document.data.get(LOCAL)
    shown = document
    if isinstance(block, dict) and SERVING in block:
        rest = {name: value for name, value in block.items() if name != SERVING}
        shown = document.with_data({**document.data, LOCAL: rest})
    local, found = read_local(shown, allowed=allowed)
    if local is not None:
        default = LocalSettings()
        found = [
            *found,
            *(
                Violation(path=(LOCAL, name), text=f"Local.{name}: transform jobs have no use for it; remove it")
                for name in members(LocalSettings)
                if name not in USED and getattr(local, name) != getattr(default, name)
            ),
        ]
    return local, found


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
