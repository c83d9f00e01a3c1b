"""A model that a pipeline registers, and what is made of its package: with real containers."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Gone = Callable[[str], None]
ROLE = "arn:aws:iam::111122223333:role/R"
ANSWER = {"/opt/ml/model/weights.txt": "trained\n"}


@pytest.mark.slow(5)
def test_a_registered_model_transforms_in_the_pipeline_and_is_deployed_after_it(
    pipelines: Any, image: Callable[[str], str], all_gone: Gone
) -> None:
    """The step makes the group of its model, whose data is where the training job has left it."""
    life = pipelines.life
    (life.folder / "rows").mkdir()
    (life.folder / "rows" / "a.csv").write_text("1,2\n")
    served = {
        "Image": image("serve"),
        "ModelDataUrl": {"Get": "Steps.Train.ModelArtifacts.S3ModelArtifacts"},
        "Environment": {"ANSWER": "files"},
    }
    rows = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://rows/"}}
    steps = [
        pipelines.training("Train", "echo trained > /opt/ml/model/weights.txt"),
        {
            "Name": "Register",
            "Type": "RegisterModel",
            "Arguments": {
                "ModelPackageGroupName": "registered",
                "ModelApprovalStatus": {"Get": "Parameters.Approval"},
                "InferenceSpecification": {"Containers": [served]},
            },
        },
        {
            "Name": "Model",
            "Type": "Model",
            "Arguments": {
                "ExecutionRoleArn": ROLE,
                "PrimaryContainer": {"ModelPackageName": {"Get": "Steps.Register.ModelPackageArn"}},
            },
        },
        {
            "Name": "Transform",
            "Type": "Transform",
            "Arguments": {
                "ModelName": {"Get": "Steps.Model.ModelName"},
                "TransformInput": {"DataSource": rows},
                "TransformOutput": {"S3OutputPath": "s3://nowhere/answers"},
                "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
            },
        },
    ]
    parameters = [{"Name": "Approval", "Type": "String", "DefaultValue": "Approved"}]
    more = {"Parameters": parameters, "Local": {"Sources": {"s3://rows": str(life.folder / "rows")}}}
    first = pipelines.run("registering", steps, **more)
    assert pipelines.rows(first) == [f"{name} Succeeded" for name in ("Train", "Register", "Model", "Transform")]
    answer = pipelines.steps(first)["Register"].answer
    assert (answer["ModelPackageGroupName"], answer["ModelPackageVersion"]) == ("registered", 1)
    done = life("deploy", "registered/1", "--name", "of-a-pipeline", "--no-key")
    assert done.returncode == 0, done.stderr
    assert json.loads(life("invoke", "of-a-pipeline", "--body", "1,2").stdout) == ANSWER
    life("rm", "--stop", "of-a-pipeline")

    second = pipelines.run("registering", steps, "-p", "Approval=PendingManualApproval", code=1, **more)
    reason = pipelines.rows(second)[2]
    assert reason.startswith("Model Failed ClientError: Failed to invoke sagemaker:CreateModel. Error Details: ")
    assert "the model package registered/2 is not approved, but PendingManualApproval" in reason
    all_gone(first)
    all_gone(second)
