"""The model registry by boto3, each answer held to its model, and by both SDKs, with containers of the models."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import User, last_json
from tests.clients.hosting import ROLE, Endpoints, archive, refused
from tests.kit.answer_shapes import client_of

ARN = "arn:aws:sagemaker:us-east-1:000000000000"
MODEL = "/opt/ml/model/weights.txt"


@pytest.mark.slow(5)
def test_a_registered_model_is_served_and_transforms(
    serve: Callable[..., Any],
    image: Callable[[str], str],
    user: User,
    tmp_path: Path,
    assert_nothing_left: Callable[[str], None],
) -> None:
    """Once it is approved: by a client, by `smlocal deploy` and by a file that names the package."""
    with serve() as address:
        endpoints = Endpoints(address=address, image=image("serve"))
        sagemaker, objects = endpoints.sagemaker, client_of(address, "s3")
        objects.create_bucket(Bucket="registered")
        objects.put_object(Bucket="registered", Key="model.tar.gz", Body=archive())
        objects.put_object(Bucket="registered", Key="in/a.csv", Body=b"1,2\n")
        container: dict[str, Any] = {
            "Image": endpoints.image,
            "ModelDataUrl": "s3://registered/model.tar.gz",
            "Environment": {"ANSWER": "files"},
        }
        sagemaker.create_model_package_group(ModelPackageGroupName="clients-group")
        version = sagemaker.create_model_package(
            ModelPackageGroupName="clients-group",
            InferenceSpecification={"Containers": [container], "SupportedContentTypes": ["text/csv"]},
            CustomerMetadataProperties={"commit": "abc"},
        )["ModelPackageArn"]
        assert version == f"{ARN}:model-package/clients-group/1"
        pages = sagemaker.get_paginator("list_model_packages").paginate(ModelPackageGroupName="clients-group")
        assert [each["ModelPackageArn"] for page in pages for each in page["ModelPackageSummaryList"]] == [version]

        made: dict[str, Any] = {"ModelName": "clients-registered", "ExecutionRoleArn": ROLE}
        made["PrimaryContainer"] = {"ModelPackageName": version}
        code, message = refused(sagemaker.create_model, **made)
        assert (code, "is not approved, but PendingManualApproval" in message) == ("ValidationException", True)
        deploy = [sys.executable, "-m", "smlocal", "deploy", version, "--name", "clients-deployed", "--no-key"]
        assert "is not approved" in user.run(deploy).stderr
        sagemaker.update_model_package(ModelPackageArn=version, ModelApprovalStatus="Approved")

        sagemaker.create_model(**made)
        described = sagemaker.describe_model(ModelName="clients-registered")
        assert described["PrimaryContainer"] == {"ModelPackageName": version}
        endpoints.configuration("clients-registered", "clients-registered")
        endpoints.endpoint("clients-registered")
        assert json.loads(endpoints.invoke("clients-registered")) == {MODEL: "trained"}
        endpoints.delete("clients-registered")

        sagemaker.create_transform_job(
            TransformJobName="clients-registered-transform",
            ModelName="clients-registered",
            TransformInput={"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://registered/in/"}}},
            TransformOutput={"S3OutputPath": "s3://registered/out"},
            TransformResources={"InstanceType": "ml.m5.large", "InstanceCount": 1},
        )
        waiter = sagemaker.get_waiter("transform_job_completed_or_stopped")
        waiter.wait(TransformJobName="clients-registered-transform")
        answered = objects.get_object(Bucket="registered", Key="out/a.csv.out")["Body"].read()
        assert json.loads(answered) == {MODEL: "trained"}

    done = user.run(deploy)
    assert done.returncode == 0, done.stderr
    invoke = [sys.executable, "-m", "smlocal", "invoke", "clients-deployed", "--body", "1,2"]
    assert json.loads(user.run(invoke).stdout) == {MODEL: "trained"}
    user.run([sys.executable, "-m", "smlocal", "rm", "--stop", "clients-deployed"])

    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text("1,2\n")
    transform: dict[str, Any] = {
        "PrimaryContainer": {"ModelPackageName": version},
        "TransformInput": {"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./rows"}}},
        "TransformOutput": {"S3OutputPath": "./out"},
        "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    (tmp_path / "transform.json").write_text(json.dumps(transform))
    command = [sys.executable, "-m", "smlocal", "run", "transform.json", "--name", "clients-registered-file"]
    done = user.run(command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "a.csv.out").read_text()) == {MODEL: "trained"}
    for name in ("clients-registered", "clients-registered-transform", "clients-deployed", "clients-registered-file"):
        assert_nothing_left(name)


@pytest.mark.slow(8)
@pytest.mark.long
def test_sdk_2_registers_approves_and_deploys(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-2", "sdk2_registry.py", image("serve"), "sdk2-registry")
    assert last_json(done.stdout) == {
        "packages": [f"{ARN}:model-package/sdk2-registry/{number}" for number in (1, 2)],
        "approval": ["Approved", "fast enough"],
        "metadata": {"commit": "abc"},
        "answer": {MODEL: "packed"},
        "left": [],
    }
    assert_nothing_left("sdk2-registry")


@pytest.mark.slow(5)
@pytest.mark.long
def test_sdk_3_has_the_registry_as_resources(user: User) -> None:
    done = user.execute("sdk-3", "sdk3_registry.py", "an-image", "Sdk3-Registry")
    assert last_json(done.stdout) == {
        "group": f"{ARN}:model-package-group/sdk3-registry",
        "package": f"{ARN}:model-package/sdk3-registry/1",
        "status": ["Completed", "Approved"],
        "groups": ["Sdk3-Registry"],
        "model": f"{ARN}:model-package/sdk3-registry/1",
    }
