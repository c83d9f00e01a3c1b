"""An endpoint by boto3: its model uploaded, made, waited for, invoked, its log read, deleted."""

import io
import json
import sys
import tarfile

import boto3

image, name = sys.argv[1:]
sagemaker, runtime, s3 = boto3.client("sagemaker"), boto3.client("sagemaker-runtime"), boto3.client("s3")

packed = io.BytesIO()
with tarfile.open(fileobj=packed, mode="w:gz") as archive:
    member = tarfile.TarInfo("weights.txt")
    member.size = 7
    archive.addfile(member, io.BytesIO(b"trained"))
s3.create_bucket(Bucket="models")
s3.put_object(Bucket="models", Key=f"{name}/model.tar.gz", Body=packed.getvalue())

sagemaker.create_model(
    ModelName=name,
    ExecutionRoleArn="arn:aws:iam::123456789012:role/hosting",
    PrimaryContainer={
        "Image": image,
        "ModelDataUrl": f"s3://models/{name}/model.tar.gz",
        "Environment": {"ANSWER": "model"},
    },
)
sagemaker.create_endpoint_config(
    EndpointConfigName=name,
    ProductionVariants=[
        {"VariantName": "AllTraffic", "ModelName": name, "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
    ],
)
arn = sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name, Tags=[{"Key": "team", "Value": "a"}])[
    "EndpointArn"
]
statuses = [sagemaker.describe_endpoint(EndpointName=name)["EndpointStatus"]]
asked: list[str] = []
sagemaker.meta.events.register("before-call.sagemaker.DescribeEndpoint", lambda **_: asked.append(name))
sagemaker.get_waiter("endpoint_in_service").wait(EndpointName=name)
questions = len(asked)
statuses.append(sagemaker.describe_endpoint(EndpointName=name)["EndpointStatus"])
answer = runtime.invoke_endpoint(EndpointName=name, Body=b"1,2", ContentType="text/csv")

tags = sagemaker.list_tags(ResourceArn=arn)["Tags"]

sagemaker.delete_endpoint(EndpointName=name)
sagemaker.get_waiter("endpoint_deleted").wait(EndpointName=name)
logs, group = boto3.client("logs"), f"/aws/sagemaker/Endpoints/{name}"
(stream,) = logs.describe_log_streams(logGroupName=group, logStreamNamePrefix="AllTraffic/i-")["logStreams"]
events = logs.get_log_events(logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True)["events"]
sagemaker.delete_endpoint_config(EndpointConfigName=name)
sagemaker.delete_model(ModelName=name)
print(
    json.dumps(
        {
            "statuses": statuses,
            "questions_of_the_waiter": questions,
            "answer": json.loads(answer["Body"].read()),
            "variant": answer["InvokedProductionVariant"],
            "log": [event["message"] for event in events],
            "tags": tags,
            "left": [
                sagemaker.list_endpoints()["Endpoints"],
                sagemaker.list_endpoint_configs()["EndpointConfigs"],
                sagemaker.list_models()["Models"],
            ],
        }
    )
)
