"""Jobs of boto3: one goes well, one fails, one cannot begin, one is deleted, one still runs at the end."""

import sys
import time

import boto3

image, head, end = sys.argv[1:]
sagemaker = boto3.client("sagemaker")


def create(name: str, script: str, image: str = image) -> None:
    sagemaker.create_training_job(
        TrainingJobName=f"{head}-{name}",
        RoleArn="arn:aws:iam::123456789012:role/training",
        AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"},
        Environment={"SCRIPT": script},
        OutputDataConfig={"S3OutputPath": "s3://artifacts/models"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        StoppingCondition={"MaxRuntimeInSeconds": 1800},
    )


def wait(name: str, *, until: set[str]) -> None:
    while sagemaker.describe_training_job(TrainingJobName=f"{head}-{name}")["SecondaryStatus"] not in until:
        time.sleep(0.2)


create("good", "echo weights > /opt/ml/model/weights")
create("bad", "echo no rows > /opt/ml/output/failure; exit 3")
create("no-image", "true", image="127.0.0.1:1/none")
create("deleted", "true")
for each in ("good", "bad", "no-image", "deleted"):
    wait(each, until={"Completed", "Failed"})
sagemaker.delete_training_job(TrainingJobName=f"{head}-deleted")
create("long", "trap 'exit 0' TERM; sleep 1000 & wait")
wait("long", until={"Training"})
sys.exit(int(end))
