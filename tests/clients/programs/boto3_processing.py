"""A processing job by boto3: made, waited for, described, listed, its log and its output read, stopped, deleted."""

import json
import sys

import boto3

image, name = sys.argv[1:]
sagemaker, logs, s3 = boto3.client("sagemaker"), boto3.client("logs"), boto3.client("s3")
s3.create_bucket(Bucket="rows")
s3.put_object(Bucket="rows", Key="in/rows.csv", Body=b"1,2\n")


def request(job: str, script: str) -> dict:  # type: ignore[type-arg]  # as users write it
    return {
        "ProcessingJobName": job,
        "RoleArn": "arn:aws:iam::123456789012:role/processing",
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
        "ProcessingOutputConfig": {
            "Outputs": [
                {
                    "OutputName": "copy",
                    "S3Output": {
                        "S3Uri": "s3://rows/out",
                        "LocalPath": "/opt/ml/processing/copy",
                        "S3UploadMode": "EndOfJob",
                    },
                }
            ]
        },
        "ProcessingResources": {
            "ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
        "Tags": [{"Key": "team", "Value": "a"}],
    }


script = "cp /opt/ml/processing/rows/* /opt/ml/processing/copy; echo copied; printf fine > /opt/ml/output/message"
arn = sagemaker.create_processing_job(**request(name, script))["ProcessingJobArn"]
waiter = sagemaker.get_waiter("processing_job_completed_or_stopped")
waiter.wait(ProcessingJobName=name)
job = sagemaker.describe_processing_job(ProcessingJobName=name)
group = "/aws/sagemaker/ProcessingJobs"
(stream,) = logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{name}/")["logStreams"]
events = logs.get_log_events(logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True)["events"]

sagemaker.create_processing_job(**request(f"{name}-stopped", "trap 'exit 0' TERM; sleep 1000 & wait"))
sagemaker.stop_processing_job(ProcessingJobName=f"{name}-stopped")
waiter.wait(ProcessingJobName=f"{name}-stopped")
listed = sagemaker.list_processing_jobs(NameContains=name)["ProcessingJobSummaries"]
tags = sagemaker.list_tags(ResourceArn=arn)["Tags"]
sagemaker.delete_processing_job(ProcessingJobName=name)
errors: dict[str, list[str]] = {}
for operation, parameters in (
    ("describe_processing_job", {"ProcessingJobName": name}),
    ("stop_processing_job", {"ProcessingJobName": f"{name}-stopped"}),
    ("create_processing_job", request(f"{name}-stopped", "true")),
    ("create_processing_job", {**request("any", "true"), "ProcessingInputs": [{"InputName": "a"}]}),
):
    try:
        getattr(sagemaker, operation)(**parameters)
    except sagemaker.exceptions.ClientError as error:
        errors[f"{operation} {len(errors)}"] = error.response["Error"]["Code"]
print(
    json.dumps(
        {
            "status": job["ProcessingJobStatus"],
            "message": job["ExitMessage"],
            "log": [event["message"] for event in events],
            "output": s3.get_object(Bucket="rows", Key="out/rows.csv")["Body"].read().decode(),
            "listed": {each["ProcessingJobName"]: each["ProcessingJobStatus"] for each in listed},
            "tags": tags,
            "errors": errors,
        }
    )
)
