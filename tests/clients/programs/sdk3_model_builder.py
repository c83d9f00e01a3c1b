"""SDK v3: an image of one's own with its model, built and deployed by a ModelBuilder, and asked."""

import io
import json
import logging
import sys
import tarfile

import boto3
from sagemaker.core.helper.session_helper import Session
from sagemaker.serve.model_builder import ModelBuilder

image, name = sys.argv[1:]
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
session = Session()

packed = io.BytesIO()
with tarfile.open(fileobj=packed, mode="w:gz") as archive:
    member = tarfile.TarInfo("weights.txt")
    member.size = 7
    archive.addfile(member, io.BytesIO(b"trained"))
boto3.client("s3").put_object(Bucket=session.default_bucket(), Key="model.tar.gz", Body=packed.getvalue())

builder = ModelBuilder(
    image_uri=image,
    s3_model_data_url=f"s3://{session.default_bucket()}/model.tar.gz",
    role_arn="arn:aws:iam::123456789012:role/hosting",
    sagemaker_session=session,
    env_vars={"ANSWER": "model"},
    instance_type="ml.m5.large",
)
model = builder.build(model_name=name)
# Its update_endpoint=True calls a method of the SDK with a member that this does not have.
endpoint = builder.deploy(endpoint_name=name, initial_instance_count=1, instance_type="ml.m5.large")
answer = json.loads(endpoint.invoke(body=b"1,2", content_type="text/csv").body.read())
endpoint.delete()
endpoint.wait_for_delete(poll=1)
print()  # its panel does not end the line
print(json.dumps({"model": model.model_name, "answer": answer}))
