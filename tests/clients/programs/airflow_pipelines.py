"""Airflow: the operators and the sensor of pipelines as its system test uses them, and that of the model registry."""

import json
import sys
from typing import Any

import boto3
from airflow.providers.amazon.aws.operators.sagemaker import (
    SageMakerRegisterModelVersionOperator,
    SageMakerStartPipelineOperator,
    SageMakerStopPipelineOperator,
)
from airflow.providers.amazon.aws.sensors.sagemaker import SageMakerPipelineSensor

image = sys.argv[1]
client = boto3.client("sagemaker")
role = "arn:aws:iam::123456789012:role/pipelines"


def condition(name: str, *inner: dict[str, Any]) -> dict[str, Any]:
    compared = {"Type": "LessThanOrEqualTo", "LeftValue": 3.0, "RightValue": 6.0}
    arguments = {"Conditions": [compared], "IfSteps": list(inner), "ElseSteps": []}
    return {"Name": name, "Type": "Condition", "Arguments": arguments}


def create(name: str, step: dict[str, Any]) -> None:
    name_of = {"Get": "Execution.PipelineName"}
    experiment = {"ExperimentName": name_of, "TrialName": {"Get": "Execution.PipelineExecutionId"}}
    common = {"Version": "2020-12-01", "Metadata": {}, "Parameters": [], "PipelineExperimentConfig": experiment}
    text = json.dumps({**common, "Steps": [step]})
    client.create_pipeline(PipelineName=name, PipelineDefinition=text, RoleArn=role)


def started(pipeline: str, **settings: Any) -> str:
    start = SageMakerStartPipelineOperator(task_id="start", aws_conn_id=None, pipeline_name=pipeline, **settings)
    return str(start.execute({}))


chain = condition("DummyCond")
for number in range(30):
    chain = condition(f"DummyCond{number}", chain)
create("chain", chain)
cluster = {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1}
script = "trap 'exit 0' TERM; sleep 1000 & wait"
sleeps = {
    "AppSpecification": {"ImageUri": image, "ContainerEntrypoint": ["sh", "-c", script]},
    "ProcessingResources": {"ClusterConfig": cluster},
    "RoleArn": role,
}
create("sleeps", {"Name": "Sleep", "Type": "Processing", "Arguments": sleeps})

long = started("sleeps")
awaited = started("chain", wait_for_completion=True, check_interval=1)
second = started("chain")
SageMakerPipelineSensor(task_id="await", aws_conn_id=None, pipeline_exec_arn=second, poke_interval=1).execute({})
stop = SageMakerStopPipelineOperator(
    task_id="stop", aws_conn_id=None, pipeline_exec_arn=long, wait_for_completion=True, check_interval=1
)
stopped = stop.execute({})
again = SageMakerStopPipelineOperator(task_id="again", aws_conn_id=None, pipeline_exec_arn=second).execute({})
pages = client.get_paginator("list_pipeline_execution_steps").paginate(PipelineExecutionArn=second)
steps = [each["StepName"] for page in pages for each in page["PipelineExecutionSteps"]]
register = SageMakerRegisterModelVersionOperator(
    task_id="register", aws_conn_id=None, image_uri=image, model_url="s3://models/m.tar.gz", package_group_name="group"
)
package = register.execute({})
client.delete_pipeline(PipelineName="chain")
first = client.describe_pipeline_execution(PipelineExecutionArn=long)["PipelineExecutionStatus"]
print(
    json.dumps(
        {
            "stopped": [stopped, first],
            "again": again,
            "steps": [len(steps), steps[0], steps[-1]],
            "package": package.split(":")[-1],
            "pipelines": [each["PipelineName"] for each in client.list_pipelines()["PipelineSummaries"]],
        }
    )
)
