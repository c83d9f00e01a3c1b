"""Airflow: the operator for processing jobs, executed as by a worker: a job that completes, and one that fails."""

import json
import sys
from typing import Any

import boto3
from airflow.exceptions import AirflowException
from airflow.providers.amazon.aws.operators.sagemaker import SageMakerProcessingOperator

image, name = sys.argv[1:]
s3 = boto3.client("s3")
s3.create_bucket(Bucket="rows")
s3.put_object(Bucket="rows", Key="in/rows.csv", Body=b"1,2\n")


def operator(job: str, script: str, **settings: Any) -> SageMakerProcessingOperator:
    return SageMakerProcessingOperator(
        task_id=job,
        aws_conn_id=None,
        wait_for_completion=True,
        check_interval=1,
        config={
            "ProcessingJobName": job,
            "RoleArn": "processing",
            "AppSpecification": {"ImageUri": image, "ContainerEntrypoint": ["sh", "-c", script]},
            "ProcessingInputs": [
                {
                    "InputName": "rows",
                    "S3Input": {
                        "S3Uri": "s3://rows/in",
                        "LocalPath": "/opt/ml/processing/rows",
                        "S3DataType": "S3Prefix",
                        "S3InputMode": "File",
                    },
                }
            ],
            "ProcessingResources": {
                "ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
            },
            "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
        },
        **settings,
    )


done = operator(name, "cat /opt/ml/processing/rows/rows.csv", print_log=True).execute({})["Processing"]
failed = ""
try:
    operator(f"{name}-failed", "exit 3", print_log=False).execute({})
except AirflowException as error:
    failed = str(error)
print(json.dumps({"status": done["ProcessingJobStatus"], "role": done["RoleArn"], "failed": failed}))
