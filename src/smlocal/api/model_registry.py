"""Models, packages and groups of this machine: listed, described, approved, and recorded from the service's answers."""

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors.of_jobs import ModelMissingError
from smlocal.jobfile.document import Document
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.contract.identity import DEFAULT_REGION, account, sagemaker_arn
from smlocal.sagemaker.serving.model_file import READING
from smlocal.sagemaker.serving.model_registry import (
    APPROVED,
    GROUP,
    GROUP_NAME,
    MODEL,
    PACKAGE,
    STATUS,
    described_group,
    described_model,
    described_package,
    find,
    served,
)

_DESCRIBE: Final = {PACKAGE: described_package, GROUP: described_group, MODEL: described_model}
_WORDS: Final = {PACKAGE: "package", GROUP: "group", MODEL: "model"}
_ONLY_ANSWERED: Final = frozenset({"ModelArn", "CreationTime", "DeploymentRecommendation", "ResponseMetadata"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedModel:
    """A model, a package, or a group without versions."""

    name: str
    """A version: `GROUP/NUMBER`."""
    kind: str
    """In a word."""
    approval: str
    """Empty if it needs none."""
    images: tuple[str, ...]
    answer: Mapping[str, Any]
    """As the service describes it."""


def list_models() -> dict[str, list[ListedModel]]:
    """Groups, packages and models by these words, each the newest first."""
    with Store.open(home_directory()) as store:
        return {kind: [_listed(each) for each in reversed(store.resources(kind))] for kind in (GROUP, PACKAGE, MODEL)}


def _listed(resource: StoredResource) -> ListedModel:
    return ListedModel(
        name=resource.name,
        kind=_WORDS[resource.kind],
        approval=resource.body.get(STATUS, ""),
        images=tuple(_images(resource)),
        answer=_DESCRIBE[resource.kind](resource),
    )


def _images(resource: StoredResource) -> Iterator[str]:
    body: Mapping[str, Any] = resource.body
    if resource.kind == PACKAGE:
        containers = (body.get("InferenceSpecification") or {}).get("Containers") or ()
    else:
        model = served(body)
        containers = [*filter(None, [model.get("PrimaryContainer")]), *(model.get("Containers") or ())]
    return (each["Image"] for each in containers if each.get("Image"))


def describe_model(named: str) -> Mapping[str, Any]:
    """A package, a model or a group, by its name or ARN."""
    with Store.open(home_directory()) as store:
        for kind, describe in _DESCRIBE.items():
            found = find(store, kind, named)
            if found is not None:
                versions = [each.arn for each in store.resources(PACKAGE) if each.body.get(GROUP_NAME) == found.name]
                return {**describe(found), **({"ModelPackageArns": versions} if kind == GROUP else {})}
    raise _missing("model, package or group", named)


def approve(named: str) -> str:
    """Approve a package, as UpdateModelPackage does; its ARN."""
    with Store.open(home_directory()) as store:
        package = find(store, PACKAGE, named)
        changed = package and store.change_resource(
            PACKAGE, package.name, lambda body: {**body, STATUS: APPROVED}, at=time.time()
        )
    if not changed:
        raise _missing("model package", named)
    return changed.arn


def is_package(named: str) -> bool:
    """True if a package has this name or ARN."""
    if not os.path.isdir(home := home_directory()):
        return False
    with Store.open(home) as store:
        return find(store, PACKAGE, named) is not None


def record_model(document: Document, *, name: str | None) -> tuple[str, bool]:
    """Record what CreateModel would, from an answer of DescribeModel or DescribeTrainingJob, or a request.

    Its name, and whether it replaces another.
    """
    data = _of_training_job(document.data) if "TrainingJobName" in document.data else dict(document.data)
    arn = data.get("ModelArn")
    data = {member: value for member, value in data.items() if member not in _ONLY_ANSWERED}
    model = document.with_data(data)
    if name is not None:
        model.set(("ModelName",), name)
    READING.complete(model, strict=False)
    READING.read(model, strict=False)
    _make_absolute(data, document.directory)
    called = data.get("ModelName")
    if not called:
        raise ModelMissingError(f"{document.name} describes a model without a name", remedy=["Add --name NAME."])
    if arn is None or name is not None:
        owner = account(role=data.get("ExecutionRoleArn"), image=None)
        arn = sagemaker_arn(MODEL, called, region=DEFAULT_REGION, account=owner)
    now = round(time.time(), 3)
    new = StoredResource(kind=MODEL, name=called, arn=arn, created=now, modified=now, body=data)
    with Store.open(home_directory()) as store:
        old = find(store, MODEL, called)
        if old is not None:
            store.change_resource(MODEL, old.name, lambda _: None, at=now)
        store.add_resource(new)
    return called, old is not None


def _make_absolute(value: Any, directory: str) -> None:
    """The paths of a file are relative to it; those of what is stored, to nothing."""
    for name, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, dict | list):
            _make_absolute(each, directory)
        elif name in {"ModelDataUrl", "S3Uri"} and isinstance(each, str) and "://" not in each:
            value[name] = os.path.abspath(os.path.join(directory, each))


def _of_training_job(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The model that a training job of the service has made, in the image that made it."""
    image = (answer.get("AlgorithmSpecification") or {}).get("TrainingImage")
    data = (answer.get("ModelArtifacts") or {}).get("S3ModelArtifacts")
    container = {**({"Image": image} if image else {}), **({"ModelDataUrl": data} if data else {})}
    role = answer.get("RoleArn")
    return {
        "ModelName": answer["TrainingJobName"],
        "PrimaryContainer": container,
        **({"ExecutionRoleArn": role} if role else {}),
    }


def _missing(what: str, named: str) -> ModelMissingError:
    return ModelMissingError(
        f"there is no {what} {named} on this machine",
        remedy=["smlocal models lists all."],
    )
