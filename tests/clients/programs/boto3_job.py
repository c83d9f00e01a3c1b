"""A job by boto3: made, waited for, described, its log read, removed."""

import json
import sys

import boto3

image, name = sys.argv[1:]
sagemaker, logs = boto3.client("sagemaker"), boto3.client("logs")

arn = sagemaker.create_training_job(
    TrainingJobName=name,
    RoleArn="arn:aws:iam::123456789012:role/training",
    AlgorithmSpecification={
        "TrainingImage": image,
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": r"loss=([0-9.]+)"}],
    },
    Environment={"SCRIPT": "echo loss=0.5; echo done > /opt/ml/model/m; sleep 1"},
    OutputDataConfig={"S3OutputPath": "s3://artifacts/models"},
    ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
    StoppingCondition={"MaxRuntimeInSeconds": 1800},
    Tags=[{"Key": "team", "Value": "a"}],
)["TrainingJobArn"]
asked: list[str] = []
sagemaker.meta.events.register("before-call.sagemaker.DescribeTrainingJob", lambda **_: asked.append(name))
sagemaker.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)
questions = len(asked)
job = sagemaker.describe_training_job(TrainingJobName=name)

group = "/aws/sagemaker/TrainingJobs"
(stream,) = logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{name}/")["logStreams"]
events = logs.get_log_events(logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True)["events"]
point = boto3.client("cloudwatch").get_metric_statistics(
    Namespace=group,
    MetricName="loss",
    Dimensions=[{"Name": "TrainingJobName", "Value": name}],
    StartTime=job["TrainingStartTime"],
    EndTime=job["TrainingEndTime"].timestamp() + 60,
    Period=60,
    Statistics=["Average"],
)["Datapoints"]
tags = sagemaker.list_tags(ResourceArn=arn)["Tags"]
sagemaker.delete_training_job(TrainingJobName=name)

print(
    json.dumps(
        {
            "status": job["TrainingJobStatus"],
            "request_id": len(job["ResponseMetadata"]["RequestId"]),
            "questions_of_the_waiter": questions,
            "log": [event["message"] for event in events],
            "metric": job["FinalMetricDataList"][0]["Value"],
            "statistics": [each["Average"] for each in point],
            "tags": tags,
            "identity": boto3.client("sts").get_caller_identity()["Account"],
            "left": sagemaker.list_training_jobs(NameContains=name)["TrainingJobSummaries"],
        }
    )
)
