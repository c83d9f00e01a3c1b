"""Airflow: the operators and the sensor for pipelines, executed as by a worker, with 30 conditions in each other."""

import json
import sys
from typing import Any

import boto3
from airflow.providers.amazon.aws.operators.sagemaker import (
    SageMakerStartPipelineOperator,
    SageMakerStopPipelineOperator,
)
from airflow.providers.amazon.aws.sensors.sagemaker import SageMakerPipelineSensor

(name,) = sys.argv[1:]
client = boto3.client("sagemaker")
ROLE = "arn:aws:iam::123456789012:role/pipelines"


def make(pipeline: str, *steps: dict[str, Any]) -> None:
    parameters = [{"Name": "Limit", "Type": "Integer", "DefaultValue": 1}]
    definition = {"Version": "2020-12-01", "Metadata": {}, "Parameters": parameters, "Steps": steps}
    client.create_pipeline(PipelineName=pipeline, RoleArn=ROLE, PipelineDefinition=json.dumps(definition))


nested: list[dict[str, Any]] = []
for number in range(30, 0, -1):
    condition = {"Type": "LessThanOrEqualTo", "LeftValue": {"Get": "Parameters.Limit"}, "RightValue": 3}
    arguments = {"Conditions": [condition], "IfSteps": nested, "ElseSteps": []}
    nested = [{"Name": f"Depth{number}", "Type": "Condition", "Arguments": arguments}]
make(name, *nested)
make(f"{name}-waits", {"Name": "C", "Type": "Callback", "SqsQueueUrl": "https://q", "Arguments": {}})

start = {"aws_conn_id": None, "pipeline_params": {"Limit": "2"}}
waited = SageMakerStartPipelineOperator(
    task_id="waited", pipeline_name=name, wait_for_completion=True, check_interval=1, **start
).execute({})
begun = SageMakerStartPipelineOperator(task_id="begun", pipeline_name=name, **start).execute({})
SageMakerPipelineSensor(task_id="sensor", pipeline_exec_arn=begun, poke_interval=1, aws_conn_id=None).execute({})
running = SageMakerStartPipelineOperator(task_id="runs", pipeline_name=f"{name}-waits", **start).execute({})
steps: list[dict[str, Any]] = []
while not steps or "Callback" not in steps[0]["Metadata"]:
    steps = client.list_pipeline_execution_steps(PipelineExecutionArn=running)["PipelineExecutionSteps"]
stops = {"pipeline_exec_arn": running, "aws_conn_id": None, "check_interval": 1}
stopping = SageMakerStopPipelineOperator(task_id="stop", **stops).execute({})
token = steps[0]["Metadata"]["Callback"]["CallbackToken"]
client.send_pipeline_execution_step_failure(CallbackToken=token)
stopped = SageMakerStopPipelineOperator(task_id="again", wait_for_completion=True, **stops).execute({})
found = client.list_pipeline_execution_steps(PipelineExecutionArn=waited)["PipelineExecutionSteps"]
statuses = [client.describe_pipeline_execution(PipelineExecutionArn=each) for each in (waited, begun)]
print(
    json.dumps(
        {
            "statuses": [each["PipelineExecutionStatus"] for each in statuses],
            "steps": len(found),
            "last": found[0]["StepName"],
            "stop": [stopping, stopped],
        }
    )
)
