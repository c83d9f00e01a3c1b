"""The model registry: groups, and the packages that are their versions or have a name of their own."""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.endpoint.call import AwsCall, ServiceError, validation_error
from smlocal.endpoint.sagemaker.jobs import tags_of
from smlocal.endpoint.sagemaker.pages import page_of, take
from smlocal.endpoint.sagemaker.request_folders import check_model_data, local_block, recorded_sources
from smlocal.endpoint.sagemaker.resources import ResourceWords
from smlocal.endpoint.serving import Serving
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.serving.model_registry import (
    GROUP,
    GROUP_NAME,
    HERE,
    PACKAGE,
    PENDING,
    SOURCES,
    STATUS,
    VERSION,
    described_group,
    described_package,
    find,
    versions_of,
)

_LAST: Final = "LastVersion"
"""With a group, in `HERE`: the number of its newest version. Those of deleted ones are not given again."""
_MOST_SPECIFICATIONS: Final = 15
_SUMMARY: Final = (
    *("ModelPackageName", GROUP_NAME, VERSION, "ModelPackageArn", "ModelPackageDescription", "CreationTime"),
    *("ModelPackageStatus", STATUS, "ModelLifeCycle", "ModelPackageRegistrationType"),
)
_GROUP_SUMMARY: Final = (
    *("ModelPackageGroupName", "ModelPackageGroupArn", "ModelPackageGroupDescription", "CreationTime"),
    *("ModelPackageGroupStatus", "ManagedConfiguration"),
)


class _Words(ResourceWords):
    """The service has other sentences about these."""

    def missing(self, arn: str) -> ServiceError:
        """The error for a name that nothing has."""
        return validation_error(f"{self.spoken.replace(' ', '')} {arn} does not exist.")

    def existing(self, arn: str) -> ServiceError:
        """The error for a name that is in use."""
        return validation_error(f"{self.spoken} already exists: {arn}")


_GROUPS: Final = _Words(name=GROUP, spoken="Model Package Group", in_arn="model-package-group")
_PACKAGES: Final = _Words(name=PACKAGE, spoken="Model Package", in_arn="model-package")


def found_package(serving: Serving, named: str, *, region: str) -> StoredResource:
    """The package with this name or ARN, or `ServiceError`."""
    return _found(serving, _PACKAGES, named, region=region)


def _found(serving: Serving, words: _Words, named: str, *, region: str) -> StoredResource:
    resource = find(serving.store, words.name, named)
    if resource is None:
        arn = named if named.startswith("arn:") else words.arn(named, region=region, account=serving.account)
        raise words.missing(arn)
    return resource


def _create(serving: Serving, words: _Words, name: str, call: AwsCall, body: Mapping[str, Any]) -> str:
    arn, now = words.arn(name, region=call.region, account=serving.account), round(time.time(), 3)
    new = StoredResource(kind=words.name, name=name, arn=arn, created=now, modified=now, body=body)
    if find(serving.store, words.name, name) is not None or not serving.store.add_resource(new):
        raise words.existing(arn)
    return arn


def create_model_package_group(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """It has no versions yet."""
    asked = call.parameters
    return {"ModelPackageGroupArn": _create(serving, _GROUPS, asked[GROUP_NAME], call, asked)}


def describe_model_package_group(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """As it was made."""
    return described_group(_found(serving, _GROUPS, call.parameters[GROUP_NAME], region=call.region))


def list_model_package_groups(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of them."""
    asked = call.parameters
    other = asked.get("CrossAccountFilterOption") == "CrossAccount"  # no account shares any with this machine
    return page_of(
        take(() if other else serving.store.resources(GROUP), asked),
        asked,
        member="ModelPackageGroupSummaryList",
        summary=lambda each: _some(described_group(each), _GROUP_SUMMARY),
    )


def delete_model_package_group(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Forget a group without versions."""
    group = _found(serving, _GROUPS, call.parameters[GROUP_NAME], region=call.region)
    count = sum(1 for _ in versions_of(serving.store, group.name))
    if count:
        raise ServiceError(
            "ConflictException",
            f"Model Package Group {group.arn} cannot be deleted: it has {count} model package"
            f"{'s' if count > 1 else ''}.",
        )
    serving.store.change_resource(GROUP, group.name, lambda _: None, at=time.time())
    return {}


def create_model_package(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The next version of a group, or a package with a name of its own."""
    asked = call.parameters
    name, group = asked.get("ModelPackageName"), asked.get(GROUP_NAME)
    if name is None and group is None:
        raise validation_error("Missing ARN.")
    if name is not None and group is not None:
        raise validation_error(
            "Both ModelPackageName and ModelPackageGroupName are provided in the input. Cannot determine which one to "
            "use."
        )
    again = _made_before(serving, asked)
    if again is not None:
        return {"ModelPackageArn": again.arn}
    local_block(serving, asked)  # refuses what this client may not name
    check_model_data(serving, _containers(asked))
    sources = recorded_sources(serving, asked, _specifications(asked))
    body = {name: value for name, value in asked.items() if name != LOCAL}
    if sources:
        body[HERE] = {SOURCES: sources}
    if group is None:
        if any(each.get("Environment") is not None for each in _containers(asked)):
            raise validation_error(
                "1 validation errors detected:Environment variable map cannot be specified when using non-versioned "
                "ModelPackages"
            )
        return {"ModelPackageArn": _create(serving, _PACKAGES, asked["ModelPackageName"], call, body)}
    of = _found(serving, _GROUPS, group, region=call.region)
    if asked.get("Tags"):
        raise validation_error("Tags cannot be given with ModelPackageGroupName: a version has the tags of its group.")
    number = _next_version(serving, of)
    body = {STATUS: PENDING, **body, GROUP_NAME: of.name, VERSION: number}
    arn = _create(serving, _PACKAGES, f"{of.name}/{number}", call, body)
    if serving.store.resource(GROUP, of.name) is None:  # it was deleted meanwhile, without this version
        serving.store.change_resource(PACKAGE, f"{of.name}/{number}", lambda _: None, at=time.time())
        raise _GROUPS.missing(of.arn)
    return {"ModelPackageArn": arn}


def _made_before(serving: Serving, asked: Mapping[str, Any]) -> StoredResource | None:
    """What a call with the same token has made."""
    token = asked.get("ClientToken")
    if token is None:
        return None
    return next((each for each in serving.store.resources(PACKAGE) if each.body.get("ClientToken") == token), None)


def _specifications(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What models can be made of."""
    return {name: value for name, value in asked.items() if "InferenceSpecification" in name}


def _containers(asked: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    specification = asked.get("InferenceSpecification") or {}
    return list(specification.get("Containers") or ())


def _next_version(serving: Serving, group: StoredResource) -> int:
    def counted(body: dict[str, Any]) -> dict[str, Any]:
        here = body.get(HERE) or {}
        return {**body, HERE: {**here, _LAST: here.get(_LAST, 0) + 1}}

    changed = serving.store.change_resource(GROUP, group.name, counted, at=group.modified)
    if changed is None:  # it was deleted meanwhile
        raise _GROUPS.missing(group.arn)
    return int(changed.body[HERE][_LAST])


def describe_model_package(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """As it was made and changed."""
    return described_package(found_package(serving, call.parameters["ModelPackageName"], region=call.region))


def list_model_packages(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of the versions of a group, of packages without one, or of both."""
    asked = call.parameters
    group, kind, status = asked.get(GROUP_NAME), asked.get("ModelPackageType"), asked.get(STATUS)
    if group is None:
        listed = [each for each in serving.store.resources(PACKAGE) if _is_of(each, kind or "Unversioned")]
    else:
        of = _found(serving, _GROUPS, group, region=call.region)
        listed = [each for each in versions_of(serving.store, of.name) if _is_of(each, kind or "Versioned")]
    return page_of(
        take(listed, asked, others={"Name": _by_version}),
        asked,
        member="ModelPackageSummaryList",
        summary=lambda each: _some(described_package(each), _SUMMARY),
        fits=lambda each: status in {None, each.body.get(STATUS)},
    )


def _is_of(package: StoredResource, kind: str) -> bool:
    return kind == "Both" or (VERSION in package.body) is (kind == "Versioned")


def _by_version(package: StoredResource) -> str:
    name, _, number = package.name.partition("/")
    return f"{name}/{number:0>9}"


def _some(answer: Mapping[str, Any], members: tuple[str, ...]) -> dict[str, Any]:
    return {name: answer[name] for name in members if name in answer}


_REPLACED: Final = (
    *(STATUS, "ModelPackageRegistrationType", "ApprovalDescription", "InferenceSpecification", "SourceUri"),
    *("ModelCard", "ModelLifeCycle"),
)


def update_model_package(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Approve it, or change what is said of it. Models that were made of it keep its containers."""
    asked = call.parameters
    package = found_package(serving, asked["ModelPackageArn"], region=call.region)
    more = asked.get("AdditionalInferenceSpecificationsToAdd") or []
    local_block(serving, asked)
    sources = recorded_sources(serving, asked, _specifications(asked))

    def changed(body: dict[str, Any]) -> dict[str, Any]:
        new = {**body, **{name: asked[name] for name in _REPLACED if name in asked}}
        gone = set(asked.get("CustomerMetadataPropertiesToRemove") or ())
        given = {**body.get("CustomerMetadataProperties", {}), **(asked.get("CustomerMetadataProperties") or {})}
        new["CustomerMetadataProperties"] = {key: value for key, value in given.items() if key not in gone}
        new["AdditionalInferenceSpecifications"] = [*body.get("AdditionalInferenceSpecifications", ()), *more]
        if len(new["AdditionalInferenceSpecifications"]) > _MOST_SPECIFICATIONS:
            raise validation_error(f"A model package has at most {_MOST_SPECIFICATIONS} additional specifications.")
        here = body.get(HERE) or {}
        new[HERE] = {**here, SOURCES: {**here.get(SOURCES, {}), **sources}} if sources else here
        return {name: value for name, value in new.items() if value not in ({}, [])}

    if serving.store.change_resource(PACKAGE, package.name, changed, at=time.time()) is None:
        raise _PACKAGES.missing(package.arn)
    return {"ModelPackageArn": package.arn}


def delete_model_package(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Forget it. Models that were made of it stay."""
    package = found_package(serving, call.parameters["ModelPackageName"], region=call.region)
    serving.store.change_resource(PACKAGE, package.name, lambda _: None, at=time.time())
    return {}


def searched_packages(serving: Serving) -> Iterator[dict[str, Any]]:
    """All of them as Search has them: a version has the tags of its group."""
    groups = {each.name: each for each in serving.store.resources(GROUP)}
    for each in serving.store.resources(PACKAGE):
        tagged = groups.get(each.body.get(GROUP_NAME, ""), each)
        yield {"LastModifiedTime": each.modified, **described_package(each), "Tags": tags_of(tagged.body)}


def searched_groups(serving: Serving) -> Iterator[dict[str, Any]]:
    """All of them as Search has them."""
    for each in serving.store.resources(GROUP):
        yield {**described_group(each), "Tags": tags_of(each.body)}
