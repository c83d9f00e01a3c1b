"""The model registry of this machine: models, packages and their groups as they are stored, and what is made of them.

A model that names a package keeps the containers that the package had then: both may change or go afterwards.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.errors.of_jobs import ModelMissingError, ModelPackageError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.serving.variants import packages_named, part_at

MODEL: Final = "model"
PACKAGE: Final = "model_package"
GROUP: Final = "model_package_group"
"""The kinds of these resources in the store."""
HERE: Final = "Here"
"""With what a client has made: `Containers` that packages gave to a model, `Sources` that are folders of this machine.
No answer shows it."""
SOURCES: Final = "Sources"
APPROVED: Final = "Approved"
PENDING: Final = "PendingManualApproval"
GROUP_NAME, VERSION, STATUS = "ModelPackageGroupName", "ModelPackageVersion", "ModelApprovalStatus"
_NAME: Final = "ModelPackageName"
_SPECIFICATION: Final = "InferenceSpecificationName"
_NOT_SHOWN: Final = frozenset({"Tags", LOCAL, HERE, "ClientToken"})
_OF_PACKAGE: Final = (
    *("ContainerHostname", "Image", "ModelDataUrl", "ModelDataSource", "AdditionalModelDataSources", "Environment"),
)
"""What the container of a package says of the container of a model."""
_ONE_OF: Final = ("Image", "ModelDataUrl", "ModelDataSource", "AdditionalModelDataSources")
"""What the container of a model says itself, unless it names a package."""


def find(store: Store, kind: str, named: str) -> StoredResource | None:
    """A model, a package or a group by its name or ARN; a version is `GROUP/NUMBER`.

    Accounts and regions are not compared: there is one registry. Nor is case, which ARNs do not keep.
    """
    prefix, _, name = named.partition("/") if named.startswith("arn:") else ("", "", named)
    if prefix and prefix.rpartition(":")[2] != kind.replace("_", "-"):
        return None
    found = store.resource(kind, name)
    if found is None:
        found = next((each for each in store.resources(kind) if each.name.lower() == name.lower()), None)
    return found


def shown(resource: StoredResource) -> dict[str, Any]:
    """The members of its request that Describe shows."""
    return {name: value for name, value in resource.body.items() if name not in _NOT_SHOWN}


def described_model(model: StoredResource) -> dict[str, Any]:
    """As DescribeModel answers."""
    return {
        "EnableNetworkIsolation": False,
        **shown(model),
        "ModelArn": model.arn,
        "CreationTime": model.created,
    }


def described_package(package: StoredResource) -> dict[str, Any]:
    """As DescribeModelPackage answers: a version has the name of its group and its number."""
    return {
        "CertifyForMarketplace": False,
        **shown(package),
        "ModelPackageArn": package.arn,
        "CreationTime": package.created,
        "ModelPackageStatus": "Completed",
        "ModelPackageStatusDetails": {"ValidationStatuses": [], "ImageScanStatuses": []},
        **({"LastModifiedTime": package.modified} if package.modified != package.created else {}),
    }


def described_group(group: StoredResource) -> dict[str, Any]:
    """As DescribeModelPackageGroup answers."""
    return {
        **shown(group),
        "ModelPackageGroupArn": group.arn,
        "CreationTime": group.created,
        "CreatedBy": {},
        "ModelPackageGroupStatus": "Completed",
    }


def versions_of(store: Store, group: str) -> Iterator[StoredResource]:
    """The versions of a group, the oldest first."""
    return (each for each in store.resources(PACKAGE) if each.body.get(GROUP_NAME) == group)


def served(model: Mapping[str, Any]) -> dict[str, Any]:
    """The request of a stored model, with the containers that packages gave to it."""
    here = model.get(HERE) or {}
    request = {name: value for name, value in model.items() if name != HERE}
    if "Containers" not in here:
        return request
    return with_containers(request, here["Containers"])


def sources_of(model: Mapping[str, Any]) -> dict[str, str]:
    """Folders of this machine that stand for what a stored model or package names."""
    return dict((model.get(HERE) or {}).get(SOURCES) or {})


def with_containers(model: Mapping[str, Any], containers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The request with these containers, and no others."""
    rest = {name: value for name, value in model.items() if name not in {"PrimaryContainer", "Containers"}}
    one = "PrimaryContainer" in model and len(containers) == 1
    return {**rest, **({"PrimaryContainer": containers[0]} if one else {"Containers": list(containers)})}


def packages_of(model: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The containers of a request that name a package. The request may be invalid."""
    return [each for each in _containers(model) if isinstance(each, dict) and isinstance(each.get(_NAME), str)]


def says_twice(model: Mapping[str, Any]) -> bool:
    """True if a container that names a package says itself what is in it, or the model has containers twice."""
    both = bool(model.get("PrimaryContainer") and model.get("Containers"))
    return both or any(container.get(member) for container in packages_of(model) for member in _ONE_OF)


def containers_of_packages(store: Store, model: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The containers of a request, with those of packages in the places of their names, and folders of their buckets.

    An error if a package is not here or cannot be used.
    """
    found: list[dict[str, Any]] = []
    sources: dict[str, str] = {}
    for container in _containers(model):
        if not isinstance(container.get(_NAME), str):
            found.append(dict(container))
            continue
        package = find(store, PACKAGE, container[_NAME])
        if package is None:
            raise ModelMissingError(
                f"there is no model package {container[_NAME]} on this machine",
                remedy=["smlocal models lists all."],
            )
        found += _given(container, package)
        sources.update(sources_of(package.body))
    return found, sources


def _containers(model: Mapping[str, Any]) -> list[Any]:
    several = model.get("Containers")
    return [
        *filter(None, [model.get("PrimaryContainer")]),
        *(several if isinstance(several, list) else ()),
    ]


def _given(container: Mapping[str, Any], package: StoredResource) -> Iterator[dict[str, Any]]:
    """The containers of a package. Variables of the model go before those of the package."""
    status = package.body.get(STATUS)
    if VERSION in package.body and status != APPROVED:
        raise ModelPackageError(
            f"the model package {package.name} is not approved, but {status}",
            remedy=[f"Approve it, as the service demands: smlocal models {package.name} --approve"],
        )
    definitions = _specification(package, container.get(_SPECIFICATION)).get("Containers") or []
    own = {name: value for name, value in container.items() if name not in {_NAME, _SPECIFICATION, "Environment"}}
    for definition in definitions:
        if not definition.get("Image"):
            raise _without_image(package)
        given = {name: definition[name] for name in _OF_PACKAGE if definition.get(name)}
        variables = {**given.pop("Environment", {}), **(container.get("Environment") or {})}
        yield {
            **given,
            **(own if len(definitions) == 1 else {}),
            **({"Environment": variables} if variables else {}),
        }


def _specification(package: StoredResource, name: str | None) -> Mapping[str, Any]:
    if name is None:
        found = package.body.get("InferenceSpecification")
    else:
        more = package.body.get("AdditionalInferenceSpecifications") or ()
        found = next((each for each in more if each.get("Name") == name), None)
        if found is None:
            raise ModelPackageError(f"the model package {package.name} has no specification named {name}")
    if found is None:
        raise _without_image(package)
    return dict(found)


def _without_image(package: StoredResource) -> ModelPackageError:
    return ModelPackageError(
        f"the model package {package.name} has no InferenceSpecification with an image",
        remedy=["Algorithms of an AWS account are not on this machine: register the model with its image."],
    )


def with_models_of_packages(document: Document) -> None:
    """Replace the packages that the models of a document name by their containers."""
    places = [at for at in packages_named(document) if not says_twice(part_at(document, at))]
    if not places or document.elsewhere is not None:
        return
    home = home_directory()
    if not os.path.isdir(home):
        return
    with Store.open(home) as store:
        for at in places:
            model = part_at(document, at)
            names = [each[_NAME] for each in packages_of(model)]
            containers, sources = containers_of_packages(store, model)
            changed = with_containers(model, containers)
            overrides, document.overrides = document.overrides, f"the model package {names[0]}"
            for member in ("PrimaryContainer", "Containers"):
                model.pop(member, None)
                if member in changed:
                    document.set((*at, member), changed[member])
            add_sources(document, sources)
            document.overrides = overrides


def add_sources(document: Document, sources: Mapping[str, str]) -> None:
    """Map buckets of a server to their folders, unless the document does."""
    for bucket, folder in sources.items():
        if not document.has((LOCAL, SOURCES, bucket)):
            document.set((LOCAL, SOURCES, bucket), folder)
