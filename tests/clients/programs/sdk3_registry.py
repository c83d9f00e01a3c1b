"""SDK v3: groups, packages and models of packages, as resources of sagemaker-core."""

import json
import sys

import boto3
from sagemaker.core.resources import Model, ModelPackage, ModelPackageGroup
from sagemaker.core.shapes import ContainerDefinition

image, name = sys.argv[1:]
role = "arn:aws:iam::123456789012:role/registry"
group = ModelPackageGroup.create(model_package_group_name=name, model_package_group_description="d")
made = boto3.client("sagemaker").create_model_package(  # ModelPackage.create reads a member that no answer has
    ModelPackageGroupName=name, InferenceSpecification={"Containers": [{"Image": image}]}
)
arn = made["ModelPackageArn"]
package = ModelPackage.get(model_package_name=arn)
package.update(model_approval_status="Approved")
found = ModelPackage.get(model_package_name=arn)
model = Model.create(
    model_name=name, execution_role_arn=role, primary_container=ContainerDefinition(model_package_name=arn)
)
print(
    json.dumps(
        {
            "group": group.model_package_group_arn,
            "package": arn,
            "status": [found.model_package_status, found.model_approval_status],
            "groups": [each.model_package_group_name for each in ModelPackageGroup.get_all()],
            "model": Model.get(model_name=name).primary_container.model_package_name,
        }
    )
)
