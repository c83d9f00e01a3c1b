"""The model registry, by calls without a server."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask

from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.sagemaker.operations import HANDLERS
from smlocal.endpoint.serving import Serving
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource

ACCOUNT = "1" * 12
ARN = f"arn:aws:sagemaker:eu-west-1:{ACCOUNT}"
ROLE = "arn:aws:iam::123456789012:role/T"
DATA = "s3://models/out/model.tar.gz"
SPECIFICATION: dict[str, Any] = {
    "Containers": [{"Image": "an-image", "ModelDataUrl": DATA, "Environment": {"A": "1", "B": "2"}}],
    "SupportedContentTypes": ["text/csv"],
    "SupportedResponseMIMETypes": ["text/csv"],
}


@pytest.fixture
def call(ask: Ask) -> Ask:
    """Operations of SageMaker alone."""
    return lambda operation, **parameters: ask("sagemaker", operation, **parameters)


@pytest.fixture(autouse=True)
def data(serving: Serving) -> str:
    """The model of the packages, in a bucket of the server."""
    folder = os.path.join(serving.buckets, "models", "out")
    os.makedirs(folder)
    path = os.path.join(folder, "model.tar.gz")
    with open(path, "wb") as file:
        file.write(b"any")
    return path


@pytest.fixture
def version(call: Ask) -> str:
    """The ARN of the first version of a group."""
    call("CreateModelPackageGroup", ModelPackageGroupName="Group", Tags=[{"Key": "team", "Value": "x"}])
    return made(call)


def made(call: Ask, **more: Any) -> str:
    asked = {"ModelPackageGroupName": "Group", "InferenceSpecification": SPECIFICATION, **more}
    return str(call("CreateModelPackage", **asked)["ModelPackageArn"])


def refused(call: Ask, operation: str, **parameters: Any) -> str:
    with pytest.raises(ServiceError) as raised:
        call(operation, **parameters)
    return f"{raised.value.code}: {raised.value.message}"


def test_a_group_counts_its_versions(call: Ask, version: str) -> None:
    """The number of a deleted version is not given again."""
    assert version == f"{ARN}:model-package/group/1"
    assert made(call) == f"{ARN}:model-package/group/2"
    call("DeleteModelPackage", ModelPackageName=f"{ARN}:model-package/group/2")
    assert made(call, ModelPackageGroupName=f"{ARN}:model-package-group/group") == f"{ARN}:model-package/group/3"
    assert [each["ModelPackageVersion"] for each in listed(call)] == [3, 1]
    described = call("DescribeModelPackageGroup", ModelPackageGroupName="group")
    assert described["ModelPackageGroupName"] == "Group"
    assert described["ModelPackageGroupArn"] == f"{ARN}:model-package-group/group"
    assert described["ModelPackageGroupStatus"] == "Completed"


def test_versions_that_are_made_at_once_have_numbers_of_their_own(call: Ask, version: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        made_at_once = list(threads.map(lambda _: made(call), range(40)))
    assert {version, *made_at_once} == {f"{ARN}:model-package/group/{number}" for number in range(1, 42)}


def test_a_version_of_a_group_that_is_deleted_meanwhile_goes_with_it(
    call: Ask, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("CreateModelPackageGroup", ModelPackageGroupName="Group")
    add = type(serving.store).add_resource

    def later(store: Store, new: StoredResource) -> bool:
        store.change_resource("model_package_group", "Group", lambda _: None, at=new.created)
        return add(store, new)

    monkeypatch.setattr(type(serving.store), "add_resource", later)
    asked = {"ModelPackageGroupName": "Group", "InferenceSpecification": SPECIFICATION}
    message = refused(call, "CreateModelPackage", **asked)
    assert message == f"ValidationException: ModelPackageGroup {ARN}:model-package-group/group does not exist."
    assert call("ListModelPackages", ModelPackageType="Both")["ModelPackageSummaryList"] == []


def listed(call: Ask, **asked: Any) -> list[dict[str, Any]]:
    asked = {"ModelPackageGroupName": "Group", **asked}
    return list(call("ListModelPackages", **asked)["ModelPackageSummaryList"])


def test_a_version_is_described_as_the_service_does(call: Ask, version: str) -> None:
    answer = call("DescribeModelPackage", ModelPackageName=version)
    assert isinstance(answer.pop("CreationTime"), float)
    assert answer == {
        "ModelPackageGroupName": "Group",
        "ModelPackageVersion": 1,
        "ModelPackageArn": version,
        "InferenceSpecification": SPECIFICATION,
        "ModelPackageStatus": "Completed",
        "ModelPackageStatusDetails": {"ValidationStatuses": [], "ImageScanStatuses": []},
        "CertifyForMarketplace": False,
        "ModelApprovalStatus": "PendingManualApproval",
    }
    assert call("DescribeModelPackage", ModelPackageName="group/1")["ModelPackageArn"] == version


def test_what_is_registered_with_a_model_is_described(call: Ask) -> None:
    """A package with a name of its own has no approval unless it is given."""
    said = {
        "ModelPackageDescription": "Größe (50 %), v1.2 → v2 - 'ok'!",
        "SourceAlgorithmSpecification": {"SourceAlgorithms": [{"AlgorithmName": "an-algorithm", "ModelDataUrl": DATA}]},
        "SourceUri": f"{ARN}:model/m",
        "ModelMetrics": {"ModelQuality": {"Statistics": {"ContentType": "application/json", "S3Uri": "s3://m/q.json"}}},
        "CustomerMetadataProperties": {"commit": "abc"},
        "MetadataProperties": {"CommitId": "abc"},
        "Domain": "MACHINE_LEARNING",
        "Task": "CLASSIFICATION",
        "SkipModelValidation": "All",
    }
    tags = [{"Key": "a", "Value": "b"}]
    arn = call("CreateModelPackage", ModelPackageName="Alone", ClientToken="t", Tags=tags, **said)
    assert arn == {"ModelPackageArn": f"{ARN}:model-package/alone"}
    answer = call("DescribeModelPackage", ModelPackageName="Alone")
    assert {name: answer[name] for name in said} == said
    assert answer["ModelPackageName"] == "Alone"
    assert not answer.keys() & {"Tags", "ClientToken", "Here", "ModelApprovalStatus", "ModelPackageVersion"}
    assert call("ListTags", ResourceArn=arn["ModelPackageArn"]) == {"Tags": tags}
    same = call("CreateModelPackage", ModelPackageName="Alone", ClientToken="t", **said)
    assert same == arn


def test_a_version_is_changed(call: Ask, version: str) -> None:
    extra = {"Name": "extra", "Containers": [{"Image": "another-image"}]}
    call(
        "UpdateModelPackage",
        ModelPackageArn=version,
        ModelApprovalStatus="Rejected",
        ApprovalDescription="too slow",
        CustomerMetadataProperties={"a": "1", "b": "2"},
        AdditionalInferenceSpecificationsToAdd=[extra],
    )
    changed = call(
        "UpdateModelPackage",
        ModelPackageArn=version,
        CustomerMetadataProperties={"b": "3"},
        CustomerMetadataPropertiesToRemove=["a", "none"],
    )
    assert changed == {"ModelPackageArn": version}
    answer = call("DescribeModelPackage", ModelPackageName=version)
    assert answer["ModelApprovalStatus"] == "Rejected"
    assert answer["ApprovalDescription"] == "too slow"
    assert answer["CustomerMetadataProperties"] == {"b": "3"}
    assert answer["AdditionalInferenceSpecifications"] == [extra]
    assert answer["LastModifiedTime"] >= answer["CreationTime"]
    call("UpdateModelPackage", ModelPackageArn=version, CustomerMetadataPropertiesToRemove=["b"])
    assert "CustomerMetadataProperties" not in call("DescribeModelPackage", ModelPackageName=version)
    many = [{**extra, "Name": f"extra-{number}"} for number in range(15)]
    message = refused(call, "UpdateModelPackage", ModelPackageArn=version, AdditionalInferenceSpecificationsToAdd=many)
    assert "at most 15" in message


def test_lists(call: Ask, version: str) -> None:
    """Packages without a group are listed unless it is asked for versions."""
    approved = made(call, ModelApprovalStatus="Approved")
    call("CreateModelPackage", ModelPackageName="Alone", InferenceSpecification=without_variables())
    assert [each["ModelPackageArn"] for each in listed(call)] == [approved, version]
    assert [each["ModelPackageArn"] for each in listed(call, SortOrder="Ascending")] == [version, approved]
    assert [each["ModelPackageArn"] for each in listed(call, ModelApprovalStatus="Approved")] == [approved]
    assert listed(call)[0].keys() == {
        *("ModelPackageGroupName", "ModelPackageVersion", "ModelPackageArn", "CreationTime"),
        *("ModelPackageStatus", "ModelApprovalStatus"),
    }

    def names(**asked: Any) -> list[str]:
        found = call("ListModelPackages", **asked)["ModelPackageSummaryList"]
        return sorted(each.get("ModelPackageName", str(each.get("ModelPackageVersion"))) for each in found)

    assert names() == ["Alone"]
    assert names(ModelPackageType="Versioned") == ["1", "2"]
    assert names(ModelPackageType="Both") == ["1", "2", "Alone"]
    assert names(ModelPackageType="Both", NameContains="lon") == ["Alone"]
    first = call("ListModelPackages", ModelPackageGroupName="Group", MaxResults=1, SortBy="Name")
    assert [each["ModelPackageVersion"] for each in first["ModelPackageSummaryList"]] == [2]
    rest = listed(call, MaxResults=1, SortBy="Name", NextToken=first["NextToken"])
    assert [each["ModelPackageVersion"] for each in rest] == [1]

    call("CreateModelPackageGroup", ModelPackageGroupName="other", ModelPackageGroupDescription="d")
    groups = call("ListModelPackageGroups", SortBy="Name", SortOrder="Ascending")["ModelPackageGroupSummaryList"]
    assert [each["ModelPackageGroupName"] for each in groups] == ["Group", "other"]
    assert "CreatedBy" not in groups[0]
    assert call("ListModelPackageGroups", CrossAccountFilterOption="CrossAccount")["ModelPackageGroupSummaryList"] == []


def without_variables() -> dict[str, Any]:
    return {**SPECIFICATION, "Containers": [{"Image": "an-image", "ModelDataUrl": DATA}]}


def test_versions_are_sorted_as_numbers(call: Ask, version: str) -> None:
    assert version.endswith("/1")
    for _ in range(10):
        made(call)
    found = listed(call, SortBy="Name", SortOrder="Ascending", MaxResults=20)
    assert [each["ModelPackageVersion"] for each in found] == [*range(1, 12)]


def test_search(call: Ask, version: str) -> None:
    """A version has the tags of its group."""
    made(call, ModelApprovalStatus="Approved", CustomerMetadataProperties={"k": "v"})

    def found(resource: str, *filters: dict[str, str]) -> list[dict[str, Any]]:
        results = call("Search", Resource=resource, SearchExpression={"Filters": [*filters]})["Results"]
        return [each[resource] for each in results]

    approved = found("ModelPackage", {"Name": "ModelApprovalStatus", "Value": "Approved"})
    assert [each["ModelPackageVersion"] for each in approved] == [2]
    tagged = found("ModelPackage", {"Name": "Tags.team", "Value": "x"})
    assert {each["ModelPackageArn"] for each in tagged} == {version, f"{ARN}:model-package/group/2"}
    (group,) = found("ModelPackageGroup", {"Name": "ModelPackageGroupName", "Operator": "Contains", "Value": "gro"})
    assert group["Tags"] == [{"Key": "team", "Value": "x"}]
    message = refused(call, "Search", Resource="Project")
    assert message.endswith(
        "smlocal searches only TrainingJob, HyperParameterTuningJob, ModelPackage and ModelPackageGroup, not Project."
    )


def test_refusals_have_the_words_of_the_service(call: Ask, version: str) -> None:
    """Those that are known; the others are our own."""
    spec = {"InferenceSpecification": SPECIFICATION}
    group = f"{ARN}:model-package-group/group"
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("CreateModelPackage", spec, "ValidationException: Missing ARN."),
        (
            "CreateModelPackage",
            {"ModelPackageName": "a", "ModelPackageGroupName": "b"},
            "ValidationException: Both ModelPackageName and ModelPackageGroupName are provided in the input.",
        ),
        (
            "CreateModelPackage",
            {"ModelPackageName": "a", **spec},
            "ValidationException: 1 validation errors detected:Environment variable map cannot be specified when using",
        ),
        (
            "CreateModelPackage",
            {"ModelPackageGroupName": "none", **spec},
            f"ValidationException: ModelPackageGroup {ARN}:model-package-group/none does not exist.",
        ),
        (
            "CreateModelPackage",
            {"ModelPackageGroupName": "Group", "Tags": [{"Key": "a", "Value": "b"}]},
            "ValidationException: Tags cannot be given with ModelPackageGroupName",
        ),
        (
            "CreateModelPackageGroup",
            {"ModelPackageGroupName": "gROUP"},
            f"ValidationException: Model Package Group already exists: {group}",
        ),
        (
            "DeleteModelPackageGroup",
            {"ModelPackageGroupName": "Group"},
            f"ConflictException: Model Package Group {group} cannot be deleted: it has 1 model package.",
        ),
        *(
            (
                operation,
                {member: f"{ARN}:model-package/group/9"},
                f"ValidationException: ModelPackage {ARN}:model-package/group/9 does not exist.",
            )
            for operation, member in (
                ("DescribeModelPackage", "ModelPackageName"),
                ("DeleteModelPackage", "ModelPackageName"),
                ("UpdateModelPackage", "ModelPackageArn"),
            )
        ),
        (
            "DescribeModelPackageGroup",
            {"ModelPackageGroupName": version},
            "ValidationException: 1 validation error detected",
        ),
        (
            "CreateModelPackage",
            {
                "ModelPackageGroupName": "Group",
                "InferenceSpecification": {"Containers": [{"Image": "i", "ModelDataUrl": "/etc/model.tar.gz"}]},
            },
            "ValidationException: 1 validation error detected",
        ),
    ]
    for operation, parameters, expected in cases:
        assert refused(call, operation, **parameters).startswith(expected)
    call("DeleteModelPackage", ModelPackageName=version)
    call("DeleteModelPackageGroup", ModelPackageGroupName=group)
    assert call("ListModelPackageGroups")["ModelPackageGroupSummaryList"] == []


def test_a_model_is_made_of_an_approved_version(call: Ask, serving: Serving, version: str) -> None:
    """It shows what was asked for, and keeps what the package said then."""
    model = {"ModelName": "Made", "ExecutionRoleArn": ROLE}
    container = {"ModelPackageName": version, "Environment": {"B": "3"}}
    message = refused(call, "CreateModel", **model, PrimaryContainer=container)
    assert message.startswith(
        "ValidationException: the model package Group/1 is not approved, but PendingManualApproval"
    )
    call("UpdateModelPackage", ModelPackageArn=version, ModelApprovalStatus="Approved")
    call("CreateModel", **model, PrimaryContainer=container)
    call("DeleteModelPackage", ModelPackageName=version)
    described = call("DescribeModel", ModelName="Made")
    assert described["PrimaryContainer"] == container
    assert "Here" not in described
    variant = {"VariantName": "v", "ModelName": "Made", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
    call("CreateEndpointConfig", EndpointConfigName="config", ProductionVariants=[variant])
    call("CreateEndpoint", EndpointName="served", EndpointConfigName="config")
    served = {"Image": "an-image", "ModelDataUrl": DATA, "Environment": {"A": "1", "B": "3"}}
    assert serving.store.document("served", "request")["PrimaryContainer"] == served
    call(
        "CreateTransformJob",
        TransformJobName="transformed",
        ModelName="Made",
        TransformInput={"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://models/out"}}},
        TransformOutput={"S3OutputPath": "s3://models/answers"},
        TransformResources={"InstanceType": "ml.m5.large", "InstanceCount": 1},
    )
    recorded = serving.store.document("transformed", "job")["Data"]
    assert recorded["PrimaryContainer"] == served
    assert recorded["Local"]["Sources"] == {"s3://models": os.path.join(serving.buckets, "models")}


def test_a_package_of_several_containers_makes_a_pipeline(call: Ask, serving: Serving, version: str) -> None:
    assert version
    containers = [{"Image": "first", "ContainerHostname": "a"}, {"Image": "second", "ContainerHostname": "b"}]
    arn = made(call, InferenceSpecification={"Containers": containers}, ModelApprovalStatus="Approved")
    call("CreateModel", ModelName="line", ExecutionRoleArn=ROLE, Containers=[{"ModelPackageName": arn}])
    variant = {"VariantName": "v", "ModelName": "line", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
    call("CreateEndpointConfig", EndpointConfigName="config", ProductionVariants=[variant])
    call("CreateEndpoint", EndpointName="served", EndpointConfigName="config")
    assert serving.store.document("served", "request")["Containers"] == containers


def test_a_model_is_made_of_a_further_specification(call: Ask, serving: Serving, version: str) -> None:
    extra = {"Name": "extra", "Containers": [{"Image": "another-image"}]}
    call(
        "UpdateModelPackage",
        ModelPackageArn=version,
        ModelApprovalStatus="Approved",
        AdditionalInferenceSpecificationsToAdd=[extra],
    )
    container = {"ModelPackageName": version, "InferenceSpecificationName": "extra", "ContainerHostname": "mine"}
    call("CreateModel", ModelName="other", ExecutionRoleArn=ROLE, PrimaryContainer=container)
    resource = serving.store.resource("model", "other")
    assert resource is not None
    assert resource.body["Here"]["Containers"] == [{"Image": "another-image", "ContainerHostname": "mine"}]


def test_model_data_that_is_not_there_is_missed_by_both(call: Ask, version: str, data: str) -> None:
    gone = {"Containers": [{"Image": "an-image", "ModelDataUrl": "s3://models/gone.tar.gz"}]}
    message = refused(call, "CreateModelPackage", ModelPackageName="gone", InferenceSpecification=gone)
    assert message == "ValidationException: Could not find model data at s3://models/gone.tar.gz."
    call("UpdateModelPackage", ModelPackageArn=version, ModelApprovalStatus="Approved")
    os.remove(data)
    container = {"ModelPackageName": version}
    message = refused(call, "CreateModel", ModelName="m", ExecutionRoleArn=ROLE, PrimaryContainer=container)
    assert message == f"ValidationException: Could not find model data at {DATA}."


@pytest.mark.parametrize("allowed", [True, False])
def test_folders_of_a_package_are_those_of_what_is_made_of_it(
    call: Ask, serving: Serving, tmp_path: Path, allowed: bool
) -> None:
    """If the client may use them."""
    folder = tmp_path / "far"
    folder.mkdir()
    sources = {"s3://far/out": str(folder), "s3://another": str(folder)}
    asked = {
        "ModelPackageName": "far",
        "InferenceSpecification": {"Containers": [{"Image": "i", "ModelDataUrl": "s3://far/out/model.tar.gz"}]},
        "Local": {"Sources": sources},
    }
    register = AwsCall(service="sagemaker", operation="", parameters=asked, region="eu-west-1", access_key=None)
    rights = replace(serving.options.rights, allowed_paths=(str(tmp_path),))
    owner = replace(serving, options=replace(serving.options, rights=rights))
    with pytest.raises(ServiceError, match="may not use"):
        HANDLERS["CreateModelPackage"](serving, register)
    HANDLERS["CreateModelPackage"](owner, register)
    assert "Local" not in call("DescribeModelPackage", ModelPackageName="far")
    by = owner if allowed else serving
    variant = {"VariantName": "v", "ModelName": "m", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://models/out"}}
    for operation, parameters in (
        (
            "CreateModel",
            {"ModelName": "m", "ExecutionRoleArn": ROLE, "PrimaryContainer": {"ModelPackageName": "far"}},
        ),
        ("CreateEndpointConfig", {"EndpointConfigName": "c", "ProductionVariants": [variant]}),
        ("CreateEndpoint", {"EndpointName": "served", "EndpointConfigName": "c"}),
        (
            "CreateTransformJob",
            {
                "TransformJobName": "transformed",
                "ModelName": "m",
                "TransformInput": {"DataSource": source},
                "TransformOutput": {"S3OutputPath": "s3://models/answers"},
                "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
            },
        ),
    ):
        HANDLERS[operation](by, replace(register, operation=operation, parameters=parameters))
    for name in ("served", "transformed"):
        found = serving.store.document(name, "job")["Data"]["Local"].get("Sources", {})
        assert found.get("s3://far/out") == (str(folder) if allowed else None)
        assert "s3://another" not in found


def test_models_that_cannot_be_made_of_a_package(call: Ask, version: str) -> None:
    call("UpdateModelPackage", ModelPackageArn=version, ModelApprovalStatus="Approved")
    algorithm = {"SourceAlgorithms": [{"AlgorithmName": "an-algorithm"}]}
    call("CreateModelPackage", ModelPackageName="trained", SourceAlgorithmSpecification=algorithm)
    cases = [
        ({"ModelPackageName": "none"}, f"ModelPackage {ARN}:model-package/none does not exist."),
        (
            {"ModelPackageName": version, "Image": "an-image"},
            "Specify one of either Image and Model Data URL or ModelPackageName in container definition.",
        ),
        ({"ModelPackageName": "trained"}, "has no InferenceSpecification with an image"),
        ({"ModelPackageName": version, "InferenceSpecificationName": "x"}, "has no specification named x"),
    ]
    for container, expected in cases:
        message = refused(call, "CreateModel", ModelName="m", ExecutionRoleArn=ROLE, PrimaryContainer=container)
        assert message.startswith("ValidationException: ")
        assert expected in message


def test_a_package_may_not_name_a_path_that_its_client_may_not_use(serving: Serving) -> None:
    """As other documents of clients: a handler that is called in this process gets no checked parameters."""
    asked = {"ModelPackageName": "p", "InferenceSpecification": {"Containers": [{"ModelDataUrl": "/etc/m.tar.gz"}]}}
    call = AwsCall(service="sagemaker", operation="", parameters=asked, region="eu-west-1", access_key=None)
    with pytest.raises(ServiceError, match="may not"):
        HANDLERS["CreateModelPackage"](serving, call)
    rights = replace(serving.options.rights, allowed_paths=("/etc",))
    HANDLERS["CreateModelPackage"](replace(serving, options=replace(serving.options, rights=rights)), call)
