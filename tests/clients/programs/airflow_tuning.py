"""Airflow: the operator for tuning jobs, executed as by a worker."""

import json
import sys
from pathlib import Path

import boto3
from airflow.providers.amazon.aws.operators.sagemaker import SageMakerTuningOperator

config = json.loads(Path(sys.argv[1]).read_text())
s3 = boto3.client("s3")
s3.create_bucket(Bucket="tuned-rows")
s3.put_object(Bucket="tuned-rows", Key="train/rows.csv", Body=b"1,2\n")
source = {"S3DataType": "S3Prefix", "S3Uri": "s3://tuned-rows/train"}
config["TrainingJobDefinition"]["InputDataConfig"] = [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}]
tune = SageMakerTuningOperator(
    task_id="tune", aws_conn_id=None, wait_for_completion=True, check_interval=1, config=config
)
done = tune.execute({})["Tuning"]
best = done["BestTrainingJob"]
print(json.dumps({"status": done["HyperParameterTuningJobStatus"], "best": best["TrainingJobName"]}))
