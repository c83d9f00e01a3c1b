"""Airflow: the operator for training jobs, executed as by a worker: a job that completes, and one that fails."""

import json
import sys
from typing import Any

import boto3
from airflow.exceptions import AirflowException
from airflow.providers.amazon.aws.operators.sagemaker import SageMakerTrainingOperator

image, name = sys.argv[1:]
s3 = boto3.client("s3")
s3.create_bucket(Bucket="rows")
s3.put_object(Bucket="rows", Key="train/rows.csv", Body=b"1,2\n")


def operator(job: str, script: str, **settings: Any) -> SageMakerTrainingOperator:
    return SageMakerTrainingOperator(
        task_id=job,
        aws_conn_id=None,
        wait_for_completion=True,
        check_interval=1,
        config={
            "TrainingJobName": job,
            "RoleArn": "training",
            "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "InputDataConfig": [
                {
                    "ChannelName": "train",
                    "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://rows/train"}},
                }
            ],
            "OutputDataConfig": {"S3OutputPath": "s3://rows/models"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
        },
        **settings,
    )


done = operator(name, "cat /opt/ml/input/data/train/rows.csv", print_log=True).execute({})["Training"]
failed = ""
try:
    operator(f"{name}-failed", "exit 3", print_log=False).execute({})
except AirflowException as error:
    failed = str(error)
print(
    json.dumps(
        {
            "status": done["TrainingJobStatus"],
            "role": done["RoleArn"],
            "failed": failed,
        }
    )
)
