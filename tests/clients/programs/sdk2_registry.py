"""SDK v2: a model registered, approved, and deployed by the ARN of its package."""

import json
import sys
import tarfile
from pathlib import Path

import sagemaker
from sagemaker import ModelPackage
from sagemaker.deserializers import JSONDeserializer
from sagemaker.model import Model
from sagemaker.model_metrics import MetricsSource, ModelMetrics
from sagemaker.predictor import Predictor
from sagemaker.s3 import S3Uploader

image, name = sys.argv[1:]
session = sagemaker.Session()
role = sagemaker.get_execution_role()
Path("weights.txt").write_text("packed")
with tarfile.open("model.tar.gz", "w:gz") as archive:
    archive.add("weights.txt")
data = S3Uploader.upload("model.tar.gz", f"s3://{session.default_bucket()}/{name}", sagemaker_session=session)
model = Model(image_uri=image, model_data=data, role=role, env={"ANSWER": "model"}, sagemaker_session=session)
asked = {
    "content_types": ["text/csv"],
    "response_types": ["application/json"],
    "inference_instances": ["ml.m5.large"],
    "transform_instances": ["ml.m5.large"],
    "model_package_group_name": name,
    "model_metrics": ModelMetrics(model_statistics=MetricsSource("application/json", f"{data}.json")),
    "customer_metadata_properties": {"commit": "abc"},
    "description": "The first one.",
}
first = model.register(**asked)
second = model.register(**asked)  # the group is there
second.update_approval_status(approval_status="Approved", approval_description="fast enough")
described = session.sagemaker_client.describe_model_package(ModelPackageName=second.model_package_arn)

package = ModelPackage(
    role=role, model_package_arn=second.model_package_arn, predictor_cls=Predictor, sagemaker_session=session
)
package.deploy(initial_instance_count=1, instance_type="ml.m5.large", endpoint_name=name, wait=False)
session.sagemaker_client.get_waiter("endpoint_in_service").wait(EndpointName=name)
answer = Predictor(name, sagemaker_session=session, deserializer=JSONDeserializer()).predict(b"1,2")
session.sagemaker_client.delete_endpoint(EndpointName=name)
session.sagemaker_client.get_waiter("endpoint_deleted").wait(EndpointName=name)
package.delete_model()
second.delete_model() if second.name else None
for each in (first, second):
    session.sagemaker_client.delete_model_package(ModelPackageName=each.model_package_arn)
session.sagemaker_client.delete_model_package_group(ModelPackageGroupName=name)
print()
print(
    json.dumps(
        {
            "packages": [each.model_package_arn for each in (first, second)],
            "approval": [described["ModelApprovalStatus"], described["ApprovalDescription"]],
            "metadata": described["CustomerMetadataProperties"],
            "answer": answer,
            "left": session.sagemaker_client.list_model_package_groups()["ModelPackageGroupSummaryList"],
        }
    )
)
