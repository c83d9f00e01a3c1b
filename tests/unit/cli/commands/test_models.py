"""`smlocal models`, and the packages that files and `smlocal deploy` name, without an engine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kit import Run

from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource

ARN = "arn:aws:sagemaker:us-east-1:000000000000"
ROLE = "arn:aws:iam::123456789012:role/x"
MODEL = {
    "ModelName": "described",
    "ModelArn": "arn:aws:sagemaker:eu-west-1:123456789012:model/described",
    "PrimaryContainer": {"Image": "an-image", "Mode": "SingleModel", "ModelDataUrl": "s3://far/model.tar.gz"},
    "ExecutionRoleArn": ROLE,
    "CreationTime": "2026-01-01T00:00:00+00:00",
    "EnableNetworkIsolation": False,
}
TRAINED = {
    "TrainingJobName": "trained",
    "TrainingJobStatus": "Completed",
    "AlgorithmSpecification": {"TrainingImage": "its-image", "TrainingInputMode": "File"},
    "ModelArtifacts": {"S3ModelArtifacts": "s3://far/trained/model.tar.gz"},
    "RoleArn": ROLE,
}
Remember = Callable[..., None]


@pytest.fixture
def remember(tmp_path: Path) -> Remember:
    """Records what a client would have made."""
    made = 0

    def record(kind: str, name: str, body: dict[str, Any]) -> None:
        nonlocal made
        made += 1
        arn = f"{ARN}:{kind.replace('_', '-')}/{name.lower()}"
        with Store.open(str(tmp_path)) as store:
            store.add_resource(
                StoredResource(kind=kind, name=name, arn=arn, created=float(made), modified=float(made), body=body)
            )

    return record


@pytest.fixture
def registry(remember: Remember, tmp_path: Path) -> str:
    """Two versions of a group, of which one is approved, an empty group, a package without a group, and a model."""
    model = tmp_path / "buckets" / "models" / "model.tar.gz"
    model.parent.mkdir(parents=True)
    model.write_bytes(b"any")
    containers = [{"Image": "an-image", "ModelDataUrl": "s3://models/model.tar.gz", "Environment": {"A": "1"}}]
    body = {
        "InferenceSpecification": {"Containers": containers},
        "Here": {"Sources": {"s3://models": str(model.parent)}},
    }
    remember("model_package_group", "Churn", {"ModelPackageGroupName": "Churn"})
    for number, status in enumerate(("PendingManualApproval", "Approved"), start=1):
        version = {"ModelPackageGroupName": "Churn", "ModelPackageVersion": number, "ModelApprovalStatus": status}
        remember("model_package", f"Churn/{number}", {**body, **version})
    remember("model_package_group", "empty", {"ModelPackageGroupName": "empty"})
    remember("model_package", "alone", {**body, "ModelPackageName": "alone"})
    remember("model", "m", {"ModelName": "m", "PrimaryContainer": {"Image": "other"}})
    return str(model.parent)


def test_nothing_is_listed(smlocal: Run) -> None:
    done = smlocal("models")
    assert (done.returncode, done.stdout) == (0, "")
    assert "No models yet" in done.stderr
    assert json.loads(smlocal("models", "--json").stdout) == {
        "ModelPackageGroups": [],
        "ModelPackages": [],
        "Models": [],
    }


@pytest.mark.usefixtures("registry")
def test_packages_groups_and_models_are_listed(smlocal: Run) -> None:
    lines = [line.split() for line in smlocal("models").stdout.splitlines()]
    assert lines == [
        ["NAME", "KIND", "APPROVAL", "IMAGE"],
        ["alone", "package", "an-image"],
        ["Churn/2", "package", "Approved", "an-image"],
        ["Churn/1", "package", "PendingManualApproval", "an-image"],
        ["empty", "group"],
        ["m", "model", "other"],
    ]
    found = json.loads(smlocal("models", "--json").stdout)
    assert [each["ModelPackageGroupName"] for each in found["ModelPackageGroups"]] == ["empty", "Churn"]
    assert [each["ModelPackageArn"] for each in found["ModelPackages"]][-1] == f"{ARN}:model-package/churn/1"
    assert found["Models"][0]["ModelArn"] == f"{ARN}:model/m"


@pytest.mark.usefixtures("registry")
def test_one_is_described_as_the_service_does(smlocal: Run) -> None:
    for named in ("churn/1", f"{ARN}:model-package/churn/1"):
        assert json.loads(smlocal("models", named).stdout)["ModelApprovalStatus"] == "PendingManualApproval"
    group = json.loads(smlocal("models", "churn").stdout)
    assert group["ModelPackageArns"] == [f"{ARN}:model-package/churn/{number}" for number in (1, 2)]
    assert json.loads(smlocal("models", "m").stdout)["PrimaryContainer"] == {"Image": "other"}
    done = smlocal("models", "none")
    assert (done.returncode, "there is no model, package or group none" in done.stderr) == (2, True)


@pytest.mark.usefixtures("registry")
def test_a_package_is_approved(smlocal: Run) -> None:
    done = smlocal("models", "churn/1", "--approve")
    assert (done.stdout, done.stderr) == ("", f"{ARN}:model-package/churn/1 is approved\n")
    answer = json.loads(smlocal("models", "churn/1", "--approve", "--json").stdout)
    assert answer["ModelApprovalStatus"] == "Approved"
    assert "there is no model package m on" in smlocal("models", "m", "--approve").stderr


@pytest.mark.parametrize("options", [("--approve",), ("--name", "x"), ("m", "--add", "file.json")])
def test_options_that_mean_nothing_together(options: tuple[str, ...], smlocal: Run) -> None:
    done = smlocal("models", *options)
    assert (done.returncode, "[usage]" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("answer", "container"),
    [
        (MODEL, MODEL["PrimaryContainer"]),
        (TRAINED, {"Image": "its-image", "ModelDataUrl": "s3://far/trained/model.tar.gz"}),
    ],
    ids=["model", "training job"],
)
def test_a_model_of_the_service_is_named_in_a_transform_file(
    answer: dict[str, Any], container: dict[str, Any], smlocal: Run, tmp_path: Path
) -> None:
    """Saved answers are enough: its data is read from S3, or from the folder that stands for its bucket."""
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    assert smlocal("models", "--add", str(tmp_path / "answer.json"), "--name", "mine").stderr == (
        "recorded the model mine\n"
    )
    done = smlocal("models", "--add", str(tmp_path / "answer.json"), "--name", "mine", "--json")
    assert done.stderr == "recorded the model mine, in place of an earlier one\n"
    described = json.loads(done.stdout)
    assert described["ModelArn"] == "arn:aws:sagemaker:us-east-1:123456789012:model/mine"
    assert (described["PrimaryContainer"], described["ExecutionRoleArn"]) == (container, ROLE)
    far = tmp_path / "far"
    far.mkdir()
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": str(far)}}
    transform = {
        "ModelName": "mine",
        "TransformInput": {"DataSource": source},
        "TransformOutput": {"S3OutputPath": str(tmp_path / "out")},
        "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "Local": {"Sources": {"s3://far": str(far)}},
    }
    (tmp_path / "transform.yaml").write_text(yaml.safe_dump(transform))
    assert smlocal("validate", str(tmp_path / "transform.yaml")).returncode == 0


def test_a_file_that_describes_no_model(smlocal: Run, tmp_path: Path) -> None:
    wrong: dict[str, Any] = {**MODEL, "PrimaryContainer": {}}
    nameless = {"PrimaryContainer": {"Image": "an-image"}}
    for answer, said in ((wrong, "Image is missing"), (nameless, "a model without a name")):
        (tmp_path / "answer.json").write_text(json.dumps(answer))
        done = smlocal("models", "--add", str(tmp_path / "answer.json"))
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert json.loads(smlocal("models", "--json").stdout)["Models"] == []


def test_files_of_a_model_are_found_from_everywhere(smlocal: Run, tmp_path: Path) -> None:
    answer = {"ModelName": "near", "PrimaryContainer": {"Image": "an-image", "ModelDataUrl": "./model.tar.gz"}}
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    smlocal("models", "--add", str(tmp_path / "answer.json"))
    container = json.loads(smlocal("models", "near").stdout)["PrimaryContainer"]
    assert container["ModelDataUrl"] == str(tmp_path / "model.tar.gz")


def test_a_model_file_names_a_package(smlocal: Run, registry: str, tmp_path: Path) -> None:
    """It is replaced by what the package says, with the folder that stands for its bucket."""
    path = tmp_path / "model.yaml"

    def validated(container: dict[str, Any]) -> tuple[int, str]:
        path.write_text(yaml.safe_dump({"PrimaryContainer": container}))
        done = smlocal("validate", str(path))
        return done.returncode, done.stdout + done.stderr

    assert validated({"ModelPackageName": "churn/2", "Environment": {"B": "2"}})[0] == 0
    assert validated({"ModelPackageName": "alone"})[0] == 0
    for container, said in (
        ({"ModelPackageName": "churn/1"}, "the model package Churn/1 is not approved, but PendingManualApproval"),
        ({"ModelPackageName": "churn/9"}, "there is no model package churn/9 on this machine"),
        ({"ModelPackageName": "alone", "InferenceSpecificationName": "x"}, "alone has no specification named x"),
        ({"ModelPackageName": "alone", "Image": "i"}, "Specify one of either Image and Model Data URL or ModelPackage"),
    ):
        code, text = validated(container)
        assert code != 0
        assert said in text
    assert registry


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("named", ["churn/1", f"{ARN}:model-package/churn/1"])
def test_a_package_is_not_deployed_before_it_is_approved(named: str, smlocal: Run) -> None:
    done = smlocal("deploy", named)
    assert done.returncode == 2
    assert "the model package Churn/1 is not approved, but PendingManualApproval" in done.stderr
    assert "smlocal models Churn/1 --approve" in done.stderr


def test_a_path_that_looks_like_a_version_is_a_path(smlocal: Run) -> None:
    done = smlocal("deploy", "none/1", "--image", "an-image")
    assert (done.returncode, "[model-missing]" in done.stderr) == (2, True), done.stderr
    assert "package" not in done.stderr
